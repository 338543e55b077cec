import { z } from 'zod';
import type { Operation } from './operation.ts';

/** A member of an operation's input, given as text: a command's argument or a query parameter. */
export interface Member {
	name: string;
	kind: 'text' | 'boolean' | 'list';
	required: boolean;
	/** A boolean that is false by default, so that naming it is enough. */
	flag: boolean;
	/** The permitted words, if the schema lists them. */
	choices: readonly string[] | undefined;
	/** The description of the schema. */
	description: string | undefined;
}

interface MemberSchema {
	type?: string;
	anyOf?: readonly MemberSchema[];
	default?: unknown;
	enum?: readonly string[];
	items?: MemberSchema;
	description?: string;
}

/** Returns the members in an operation's path, in order. */
export function pathMembers(path: string): string[] {
	return [...path.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => name);
}

const known = new WeakMap<Operation['input'], readonly Member[]>();

/** Returns the members in the order of the schema, which is analysed only once. */
export function membersOf({ input }: Pick<Operation, 'input'>): readonly Member[] {
	const members = known.get(input) ?? readMembers(input);
	known.set(input, members);
	return members;
}

function readMembers(input: Operation['input']): Member[] {
	const { properties = {}, required = [] } = z.toJSONSchema(input, { io: 'input', unrepresentable: 'any' });
	return Object.entries(properties as Record<string, MemberSchema>).map(([name, schema]) => {
		const kind = isSwitch(schema) ? 'boolean' : schema.type === 'array' ? 'list' : 'text';
		const flag = kind === 'boolean' && schema.default === false;
		const choices = wordsOf(schema.enum ?? schema.items?.enum);
		return { name, kind, required: required.includes(name), flag, choices, description: schema.description };
	});
}

/** A boolean, or the empty text that removes a setting. */
function isSwitch({ type, anyOf = [] }: MemberSchema): boolean {
	return type === 'boolean' || anyOf.some((schema) => schema.type === 'boolean');
}

/** An empty word removes a value; people need not see it among those to choose from. */
function wordsOf(words: readonly string[] | undefined): readonly string[] | undefined {
	return words?.filter((word) => word !== '');
}

/**
 * Builds the input from texts. An invalid boolean or an unknown member is passed on for the schema to refuse. A list is given by
 * several texts, or separated by commas.
 */
export function inputOfTexts(operation: Operation, texts: Iterable<readonly [name: string, text: string]>): Record<string, unknown> {
	const kinds = new Map(membersOf(operation).map(({ name, kind }) => [name, kind]));
	const input = new Map<string, unknown>();
	for (const [name, text] of texts) {
		const kind = kinds.get(name);
		if (kind === 'list') input.set(name, [...((input.get(name) as string[] | undefined) ?? []), ...items(text)]);
		else input.set(name, kind === 'boolean' ? (booleans.get(text) ?? text) : text);
	}
	// Every name becomes a member, `__proto__` too.
	return Object.fromEntries(input);
}

const booleans = new Map([
	['true', true],
	['on', true],
	['false', false],
	['off', false],
]);

function items(text: string): string[] {
	return text
		.split(',')
		.map((item) => item.trim())
		.filter((item) => item !== '');
}
