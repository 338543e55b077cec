import { Failure } from '#core/failure.ts';
import type { SearchParameter } from '../resource.ts';
import type { Expansion, Terminology } from '../terminology/value-sets.ts';
import { separatorOf, unescaped } from './escape.ts';

/** The value sets and code systems of a site for one search. All of its parameters share the work that its expansions may take. */
export interface SearchTerms {
	terminology: Terminology;
	expand: Expansion;
}

export function searchTerms(terminology: Terminology): SearchTerms {
	return { terminology, expand: terminology.expansion() };
}

/** Modifiers of tokens that mean codes by value sets and hierarchies (FHIR R4 §3.1.1.4.10). */
export const codeModifiers = ['in', 'not-in', 'below', 'above'] as const;
export type CodeModifier = (typeof codeModifiers)[number];

export function isCodeModifier(modifier: string | undefined): modifier is CodeModifier {
	return codeModifiers.some((name) => name === modifier);
}

/** Tells whether the values of a parameter are codes. Identifiers, ids and UIDs are none. */
export function hasCodes(parameter: SearchParameter & { type: 'token' }): boolean {
	if (parameter.match === 'element') return parameter.form !== 'identifier';
	return ['code', 'coding', 'member', 'constant', 'term'].includes(parameter.match);
}

/** Tells whether a search has such a modifier, so that the terms of its site are needed. */
export function namesCodes(query: string): boolean {
	return /(?::|%3A)(?:in|not-in|below|above)(?:=|%3D)/i.test(query);
}

/**
 * Returns the tokens for which the values of such a parameter stand, as a search without a modifier would have them.
 * @throws Failure `not-supported` for a value set or code system that is not known, or not in full; `invalid` for too many codes
 */
export function tokensMeant(name: string, modifier: CodeModifier, values: readonly string[], terms: SearchTerms, max: number): string[] {
	const of = modifier === 'in' || modifier === 'not-in' ? ofValueSet : modifier === 'below' ? below : above;
	const tokens = new Set<string>();
	for (const value of new Set(values)) {
		for (const token of of(name, value, terms)) tokens.add(token);
		if (tokens.size > max) throw refused(name, `stands for ${tokens.size} codes or more; a search may have at most ${max} values`);
	}
	return [...tokens];
}

function refused(name: string, words: string): Failure {
	return new Failure('not-supported', `${name} ${words}`, { location: { expression: name } });
}

function ofValueSet(name: string, value: string, { terminology, expand }: SearchTerms): string[] {
	const url = unescaped(value);
	if (terminology.valueSet(url) === undefined) throw refused(name, 'names a value set that is not known here');
	const members = expand(url);
	if (members === undefined) throw refused(name, 'names a value set whose codes are not listed here in full');
	return members.map(({ system, code }) => token(system, code));
}

function below(name: string, value: string, { terminology }: SearchTerms): string[] {
	const { system, code, index } = placeOf(name, value, terminology);
	return (index.withBelow(code) ?? [code]).map((one) => token(system, one));
}

function above(name: string, value: string, { terminology }: SearchTerms): string[] {
	const { system, code, index } = placeOf(name, value, terminology);
	return [code, ...(index.find(code)?.above ?? [])].map((one) => token(system, one));
}

function placeOf(name: string, value: string, terminology: Terminology) {
	const separator = separatorOf(value);
	const [system, code] = separator < 0 ? ['', ''] : [unescaped(value.slice(0, separator)), unescaped(value.slice(separator + 1))];
	if (system === '' || code === '') throw refused(name, 'names a code with its system: system|code');
	const index = terminology.codeSystem(system);
	if (index === undefined) throw refused(name, 'names a code system that is not known here');
	return { system, code, index };
}

function token(system: string, code: string): string {
	return `${escaped(system)}|${escaped(code)}`;
}

function escaped(text: string): string {
	return text.replace(/[\\,|$]/g, '\\$&');
}
