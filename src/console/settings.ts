import type { SettingRecord } from '#administration/settings.ts';
import { call } from './api.ts';
import type { FieldDescription, Value } from './components/field.tsx';
import type { Values } from './components/form.tsx';
import { pageFact } from './page-facts.ts';
import { createStore, useStore } from './store.ts';

export type Holder = SettingRecord['of'][number];
export type Topic = SettingRecord['topic'];

/** The settings of sites and senders, as the service lists them. */
const settings = createStore<readonly SettingRecord[]>([]);

const listSettings = call<object, SettingRecord[]>('GET', '/settings');

/** Reads the list, which stays the same while the service runs. */
export async function refreshSettings(): Promise<void> {
	settings.set(await listSettings());
}

export type { SettingRecord };

export function useSettingsByName(): ReadonlyMap<string, SettingRecord> {
	return new Map(useStore(settings).map((setting) => [setting.name, setting]));
}

/** A value in the words of the forms: `No`, the title of a choice, a list with commas. Empty where there is none. */
export function settingText(setting: SettingRecord | undefined, value: Value | null): string {
	if (value === null) return '';
	if (typeof value === 'boolean') return value ? 'Yes' : 'No';
	if (typeof value === 'object') return value.join(', ');
	const choice = setting?.values.find((one) => one.value === value);
	return choice === undefined ? value : titleOf(choice.meaning);
}

/** `Flag: it is applied, flagged and listed.` → `Flag` */
function titleOf(meaning: string): string {
	return meaning.split(': ')[0] ?? meaning;
}

/** Returns the settings that a holder of this kind may have. */
export function useSettings(holder: Holder): readonly SettingRecord[] {
	return useStore(settings).filter(({ of }) => of.includes(holder));
}

/** Returns the fields of the settings of some topics. `record` is absent on a form for something new. */
export function settingFields(
	those: readonly SettingRecord[],
	holder: Holder,
	topics: readonly Topic[],
	record?: object,
): readonly FieldDescription[] {
	return those.filter(({ topic }) => topics.includes(topic)).map((setting) => fieldOf(setting, holder, record));
}

function fieldOf(setting: SettingRecord, holder: Holder, record: object | undefined): FieldDescription {
	const { name, label, kind, of, placeholder, values } = setting;
	const common = { name, label, hint: hintOf(setting) };
	switch (kind) {
		case 'switch':
			return { ...common, kind };
		case 'text':
			return { ...common, kind, placeholder, code: true, half: true, maxLength: 250 };
		case 'list':
			return { ...common, kind, placeholder, code: true, half: true };
		case 'choice': {
			const options = values.map(({ value, meaning }) => {
				const title = titleOf(meaning);
				return { value, label: title, hint: meaning.slice(title.length + 2) };
			});
			// A sender may go back to the value of its site. Other choices have a value from the first time they are set.
			const followsSite = holder !== 'site' && of.includes('site');
			const isSet = record !== undefined && valueIn(record, name) !== undefined;
			const none = { value: '', label: followsSite ? 'As the site' : 'Default', hint: '' };
			return { ...common, kind: 'radio', required: true, options: isSet && !followsSite ? options : [none, ...options] };
		}
	}
}

function hintOf({ name, meaning, otherwise }: SettingRecord): string {
	const more = name === 'also' ? ` Choose from ${pageFact('hl7v2-optional-events')}.` : '';
	const empty = otherwise === '' ? '' : ` If it is empty, ${otherwise}.`;
	return `${meaning.charAt(0).toUpperCase()}${meaning.slice(1)}.${more}${empty}`;
}

function valueIn(record: object, name: string): Value | undefined {
	return (record as Readonly<Record<string, Value | null | undefined>>)[name] ?? undefined;
}

/** Returns the values that a form begins with: those of the record itself. */
export function settingValues(those: readonly SettingRecord[], record: object = {}): Values {
	return Object.fromEntries(
		those.map(({ name, kind, default: fallback }) => {
			const empty = kind === 'list' ? [] : kind === 'switch' ? fallback === true : '';
			return [name, valueIn(record, name) ?? empty];
		}),
	);
}

/** Returns the settings that a form for something new has filled in. */
export function statedSettings(those: readonly SettingRecord[], values: Values): Values {
	const isStated = (value: Value | undefined) => value !== undefined && value !== '' && (typeof value !== 'object' || value.length > 0);
	return Object.fromEntries(those.flatMap(({ name }) => (isStated(values[name]) ? [[name, values[name] as Value]] : [])));
}
