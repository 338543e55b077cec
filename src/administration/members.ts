import { z } from 'zod';
import type { Operation } from './operation.ts';

/** A member of an operation's input, as text gives it: a command's argument, or a parameter of a query. */
export interface Member {
	name: string;
	kind: 'text' | 'boolean' | 'list';
	required: boolean;
	/** A boolean that is false by default: naming it is enough. */
	flag: boolean;
	/** What it may be, where that is a list of words. */
	choices: readonly string[] | undefined;
}

interface MemberSchema {
	type?: string;
	default?: unknown;
	enum?: readonly string[];
	items?: MemberSchema;
}

/** The members that stand in the path of an operation, in their order. */
export function pathMembers(path: string): string[] {
	return [...path.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => name);
}

const known = new WeakMap<Operation['input'], readonly Member[]>();

/** In the order of the schema, which is taken apart once. */
export function membersOf({ input }: Pick<Operation, 'input'>): readonly Member[] {
	const members = known.get(input) ?? readMembers(input);
	known.set(input, members);
	return members;
}

function readMembers(input: Operation['input']): Member[] {
	const { properties = {}, required = [] } = z.toJSONSchema(input, { io: 'input', unrepresentable: 'any' });
	return Object.entries(properties as Record<string, MemberSchema>).map(([name, schema]) => {
		const kind = schema.type === 'boolean' ? 'boolean' : schema.type === 'array' ? 'list' : 'text';
		const flag = kind === 'boolean' && schema.default === false;
		return { name, kind, required: required.includes(name), flag, choices: schema.enum ?? schema.items?.enum };
	});
}

/**
 * The input that texts give. What is no boolean and what is no member is left as it is, for the schema to refuse; a list is given by
 * several texts or with commas.
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
