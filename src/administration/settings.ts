import { z } from 'zod';
import { hostTimeZone } from '#core/time-zone.ts';
import { type Holder, holders, settingListMax, settingTextMax, settingTopics } from '#record/settings/definition.ts';
import {
	defaultOf,
	definitionOf,
	type SettingName,
	type SettingOf,
	type Settings,
	type SettingValue,
	settingFault,
	settingNames,
	settingNamesOf,
	type WithDefault,
} from '#record/settings/settings.ts';
import type { ApiKey, IntegrationClient, Site } from '#storage/entities/index.ts';

interface Entities {
	site: Site;
	client: IntegrationClient;
	key: ApiKey;
}

/** The settings that have a column of their own, by the name of its property. The others are members of `settings`. */
const columns = {
	site: {
		default_authority: 'defaultAuthority',
		update_creates: 'updateCreates',
		check_references: 'checkReferences',
		instance_policy: 'instancePolicy',
	},
	client: { ack_mode: 'ackMode', also: 'alsoEvents', ignore: 'ignoreEvents' },
	key: {},
} as const satisfies { [H in Holder]: { readonly [Name in SettingOf<H>]?: keyof Entities[H] & string } };

/** Those with a column are always shown; the others only where they are set. */
type Shown<H extends Holder> = SettingOf<H> & keyof (typeof columns)[H];

const propertyOf = (holder: Holder, name: SettingName) => (columns[holder] as Readonly<Record<string, string>>)[name];

/** An empty text or list removes the value, so that the site's value or the default holds. */
type Given<Name extends SettingName> = SettingValue<Name> extends string | boolean ? SettingValue<Name> | '' : SettingValue<Name>;
type Inputs<H extends Holder> = { [Name in SettingOf<H>]: z.ZodOptional<z.ZodType<Given<Name>, Given<Name>>> };
type Records<H extends Holder> = { [Name in Shown<H>]: z.ZodType<Held<Name>> } & {
	[Name in Exclude<SettingOf<H>, Shown<H>>]: z.ZodOptional<z.ZodType<SettingValue<Name>>>;
};
/** Only a text has no default, so its column may be empty. */
type Held<Name extends SettingName> = Name extends WithDefault ? SettingValue<Name> : SettingValue<Name> | null;

function shape(holder: Holder, schemaOf: (name: SettingName) => z.ZodType): unknown {
	return Object.fromEntries(settingNamesOf(holder).map((name) => [name, schemaOf(name).describe(definitionOf(name).meaning)]));
}

/** Returns the members by which an operation sets the settings of a holder. */
export function settingInputs<H extends Holder>(holder: H): Inputs<H> {
	return shape(holder, (name) => inputOf(name).optional()) as Inputs<H>;
}

function inputOf(name: SettingName): z.ZodType {
	const definition = definitionOf(name);
	const text = z
		.string()
		.trim()
		.max(settingTextMax)
		.superRefine((value, context) => {
			const fault = value === '' || definition.kind !== 'text' ? undefined : settingFault(name, value);
			if (fault !== undefined) context.addIssue(fault);
		});
	switch (definition.kind) {
		case 'switch':
			return z.boolean().or(z.literal(''));
		case 'choice':
			return z.enum([...Object.keys(definition.choices), '']);
		case 'text':
			return text;
		case 'list':
			return z.array(z.string().trim().superRefine(itemFault(name))).max(settingListMax);
	}
}

function itemFault(name: SettingName) {
	return (item: string, context: z.RefinementCtx<string>) => {
		const fault = settingFault(name, [item]);
		if (fault !== undefined) context.addIssue(fault);
	};
}

/** Returns the members that show what a holder itself has. */
export function settingRecords<H extends Holder>(holder: H): Records<H> {
	return shape(holder, (name) => (propertyOf(holder, name) === undefined ? recordOf(name).optional() : recordOf(name))) as Records<H>;
}

function recordOf(name: SettingName): z.ZodType {
	const { kind } = definitionOf(name);
	return kind === 'switch' ? z.boolean() : kind === 'list' ? z.array(z.string()) : kind === 'text' ? z.string().nullable() : z.string();
}

/** The names of values in usage lines. */
export function settingPlaceholders(holder: Holder): Record<string, string> {
	return Object.fromEntries(
		settingNamesOf(holder).flatMap((name) => {
			const definition = definitionOf(name);
			return 'placeholder' in definition ? [[name, definition.placeholder]] : [];
		}),
	);
}

type HeldBy<H extends Holder> = { [Name in Shown<H>]: Held<Name> } & {
	[Name in Exclude<SettingOf<H>, Shown<H>>]?: SettingValue<Name>;
};

/** Returns what the holder itself has. A column that has its default looks as if it were set to that. */
export function ownSettings<H extends Holder>(holder: H, entity: Entities[H]): HeldBy<H> {
	const properties = entity as unknown as Readonly<Record<string, unknown>>;
	const stored = entity.settings as Readonly<Record<string, unknown>>;
	return Object.fromEntries(
		settingNamesOf(holder).flatMap((name) => {
			const property = propertyOf(holder, name);
			if (property !== undefined) return [[name, properties[property] ?? null]];
			return stored[name] === undefined ? [] : [[name, stored[name]]];
		}),
	) as HeldBy<H>;
}

/** Sets what the input names. An empty value removes what the holder has. */
export function applySettings<H extends Holder>(holder: H, entity: Entities[H], input: Readonly<Record<string, unknown>>): void {
	const properties = entity as unknown as Record<string, unknown>;
	const kept: Record<string, unknown> = { ...entity.settings };
	for (const name of settingNamesOf(holder)) {
		const given = input[name];
		if (given === undefined) continue;
		const property = propertyOf(holder, name);
		if (property !== undefined) properties[property] = given === '' ? (defaultOf(name) ?? null) : given;
		else if (given === '' || (Array.isArray(given) && given.length === 0)) delete kept[name];
		else kept[name] = given;
	}
	entity.settings = kept as Settings;
}

/** The sources of a value. */
const origins = [...holders, 'default', 'environment', 'host'] as const;

export const settingsInForce = z
	.record(
		z.string(),
		z.strictObject({
			value: z.union([z.string(), z.boolean(), z.array(z.string()), z.null()]),
			from: z.enum(origins),
		}),
	)
	.describe(
		'the value of each setting that holds, and where it comes from: the sender, its site, the default, a variable of the environment (null), or the host where it is assumed',
	);
type SettingsInForce = z.infer<typeof settingsInForce>;

/** Tells for each setting of a holder which value holds. A site's own value holds where the sender has none. */
export function inForce<H extends Holder>(holder: H, entity: Entities[H], site: Site): SettingsInForce {
	const levels: [Holder, Readonly<Record<string, unknown>>][] =
		holder === 'site'
			? [['site', ownSettings('site', site)]]
			: [
					[holder, ownSettings(holder, entity)],
					['site', ownSettings('site', site)],
				];
	return Object.fromEntries(
		settingNamesOf(holder).map((name) => {
			if (name === 'time_zone' && levels.every(([, own]) => own[name] === undefined))
				return [name, { value: hostTimeZone(), from: 'host' }];
			const fallback = defaultOf(name) ?? null;
			for (const [from, own] of levels) if (isSet(from, name, own[name])) return [name, { value: own[name], from }];
			return [name, { value: fallback, from: 'variable' in definitionOf(name) ? 'environment' : 'default' }];
		}),
	) as SettingsInForce;
}

/** A column cannot tell a value that equals the default from none. */
function isSet(holder: Holder, name: SettingName, value: unknown): boolean {
	if (value === null || value === undefined || (Array.isArray(value) && value.length === 0)) return false;
	return propertyOf(holder, name) === undefined || value !== defaultOf(name);
}

export const settingRecord = z.strictObject({
	name: z.string(),
	label: z.string(),
	of: z.array(z.enum(holders)).describe('who may have a value'),
	kind: z.enum(['choice', 'switch', 'text', 'list']),
	topic: z.enum(settingTopics),
	default: z.union([z.string(), z.boolean(), z.array(z.string()), z.null()]),
	values: z.array(z.strictObject({ value: z.string(), meaning: z.string() })).describe('the values of a choice'),
	placeholder: z.string(),
	meaning: z.string(),
	otherwise: z.string().describe('what holds while nobody has set it'),
});
export type SettingRecord = z.infer<typeof settingRecord>;

/** Lists the table of settings. */
export function listSettings(): SettingRecord[] {
	return settingNames.map((name) => {
		const definition = definitionOf(name);
		const { label, of, kind, topic, meaning } = definition;
		const value = defaultOf(name) ?? null;
		return {
			name,
			label,
			of: [...of],
			kind,
			topic,
			default: typeof value === 'object' && value !== null ? [...value] : value,
			values: kind === 'choice' ? Object.entries(definition.choices).map(([word, text]) => ({ value: word, meaning: text })) : [],
			placeholder: 'placeholder' in definition ? definition.placeholder : '',
			meaning,
			otherwise: 'otherwise' in definition ? (definition.otherwise ?? '') : '',
		};
	});
}
