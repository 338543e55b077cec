import type { Json, JsonObject } from '#core/json.ts';
import { fault } from '../fault.ts';
import type { Rule } from '../rule.ts';

/** A rule that a StructureDefinition states in FHIRPath, with its key. */
export interface Invariant {
	key: string;
	rule: Rule;
}

/** Makes an invariant of a condition on an element. `words` states the rule; the key is added to them. */
export function invariant(key: string, words: string, holds: (element: JsonObject) => boolean, ...path: string[]): Invariant {
	const issue = `${words} (${key})`;
	return {
		key,
		rule: (element, _context, issues) => {
			if (!holds(element)) issues.push(fault('invariant', issue, path));
		},
	};
}

/** Works like FHIRPath exists(): a value, or extensions in its place. */
export function has(element: JsonObject, name: string): boolean {
	return element[name] !== undefined || element[`_${name}`] !== undefined;
}

/** exists() of a choice element, by its name without type. */
export function hasChoice(element: JsonObject, name: string): boolean {
	for (const member in element) {
		const plain = member.charCodeAt(0) === underscore ? member.slice(1) : member;
		if (plain.length > name.length && plain.startsWith(name) && isCapital(plain.charCodeAt(name.length))) return true;
	}
	return false;
}

const underscore = 0x5f;
const isCapital = (character: number): boolean => character >= 0x41 && character <= 0x5a;

/** At least one of the elements is there. */
export const oneOf = (key: string, words: string, ...names: string[]): Invariant =>
	invariant(key, words, (element) => names.some((name) => has(element, name)));

/** Not both of the elements are there. */
export const notBoth = (key: string, words: string, one: string, other: string): Invariant =>
	invariant(key, words, (element) => !has(element, one) || !has(element, other), other);

/** Exactly one of the elements is there. */
export const eitherOr = (key: string, words: string, ...names: string[]): Invariant =>
	invariant(key, words, (element) => names.filter((name) => has(element, name)).length === 1);

/** Where the first of the elements is, the other is too. */
export const needs = (key: string, words: string, name: string, needed: string): Invariant =>
	invariant(key, words, (element) => !has(element, name) || has(element, needed), needed);

export function items(value: Json | undefined): Json[] {
	return Array.isArray(value) ? value : [];
}

/** Tells whether all texts differ. */
export function areDistinct(texts: readonly string[]): boolean {
	return new Set(texts).size === texts.length;
}
