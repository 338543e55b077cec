import { type Holder, type SettingDefinition, settingListMax, settingTextMax } from './definition.ts';
import { isContentCharset, settingDefinitions } from './table.ts';

type Definitions = typeof settingDefinitions;
export type SettingName = keyof Definitions;

type ValueIn<D> = D extends { kind: 'choice'; choices: infer Choices }
	? keyof Choices & string
	: D extends { kind: 'switch' }
		? boolean
		: D extends { kind: 'list' }
			? readonly string[]
			: string;
export type SettingValue<Name extends SettingName> = ValueIn<Definitions[Name]>;

/** The settings that a holder of this kind may have. */
export type SettingOf<H extends Holder> = {
	[Name in SettingName]: H extends Definitions[Name]['of'][number] ? Name : never;
}[SettingName];

/**
 * The values that somebody has set, by name; a setting without a member has its default. Every delivery carries those of its sender.
 * The access directory makes one such object for each sender, so they cost nothing for a message.
 */
export type Settings = { readonly [Name in SettingName]?: SettingValue<Name> };

/** Nobody has set anything. */
export const noSettings: Settings = Object.freeze({});

export const settingNames = Object.keys(settingDefinitions) as SettingName[];

export function definitionOf(name: SettingName): SettingDefinition {
	return settingDefinitions[name];
}

export function settingNamesOf<H extends Holder>(holder: H): SettingOf<H>[] {
	return settingNames.filter((name) => definitionOf(name).of.includes(holder)) as SettingOf<H>[];
}

/** The settings that have a default. */
export type WithDefault = { [Name in SettingName]: Definitions[Name] extends { default: unknown } ? Name : never }[SettingName];

/** Returns the value that holds: that of the sender or its site, else the default. */
export function settingOf<Name extends WithDefault>(settings: Settings, name: Name): SettingValue<Name> {
	return (settings[name] ?? settingDefinitions[name].default) as SettingValue<Name>;
}

/** Settings by which messages are read: those that the message log tells. */
const ofReading: ReadonlySet<string> = new Set(['identity', 'hl7v2']);

/**
 * Returns the settings by which a message was read. `timeZone` is that of its local times; undefined when it had none.
 */
export function readingSettings(settings: Settings, timeZone: string | undefined): Settings | undefined {
	const entries: [string, unknown][] = timeZone === undefined ? [] : [['time_zone', timeZone]];
	for (const name in settings) {
		if (ofReading.has(settingDefinitions[name as SettingName].topic)) entries.push([name, settings[name as SettingName]]);
	}
	return entries.length === 0 ? undefined : Object.fromEntries(entries);
}

/** Returns the default of a setting; undefined for one that has none. */
export function defaultOf(name: SettingName): string | boolean | readonly string[] | undefined {
	const definition = definitionOf(name);
	return 'default' in definition ? definition.default : undefined;
}

/** Says what is wrong with a value; undefined when nothing is. */
export function settingFault(name: SettingName, value: unknown): string | undefined {
	const definition = definitionOf(name);
	switch (definition.kind) {
		case 'switch':
			return typeof value === 'boolean' ? undefined : 'must be true or false';
		case 'choice':
			return typeof value === 'string' && Object.hasOwn(definition.choices, value)
				? undefined
				: `must be ${Object.keys(definition.choices).join(' or ')}`;
		case 'text':
			return textFault(definition, value);
		case 'list': {
			if (!Array.isArray(value)) return 'must be a list';
			if (value.length > settingListMax) return `has at most ${settingListMax} items`;
			return value.map((item) => textFault(definition, item)).find((fault) => fault !== undefined);
		}
	}
}

function textFault({ fault }: { fault(text: string): string | undefined }, value: unknown): string | undefined {
	if (typeof value !== 'string') return 'must be a text';
	return value.length > settingTextMax ? `has at most ${settingTextMax} characters` : fault(value);
}

/**
 * Reads what is stored. Names and values that this release does not know are left out: a newer one may have stored them, or one that was
 * in use before.
 */
export function readSettings(stored: unknown): Settings {
	if (typeof stored !== 'object' || stored === null) return noSettings;
	const entries = Object.entries(stored).filter(([name, value]) => {
		if (name === 'charset' && isContentCharset(value)) return true;
		return Object.hasOwn(settingDefinitions, name) && settingFault(name as SettingName, value) === undefined;
	});
	return entries.length === 0 ? noSettings : (Object.freeze(Object.fromEntries(entries)) as Settings);
}
