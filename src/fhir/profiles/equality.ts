import { isRawJson, type Json, type JsonObject } from '#core/json.ts';

/** Tells whether a value is exactly the fixed one (ElementDefinition.fixed[x]). */
export function isFixed(value: Json | undefined, fixed: Json): boolean {
	if (isAtom(fixed) || isAtom(value)) return sameAtom(value, fixed);
	if (Array.isArray(fixed) || Array.isArray(value)) {
		return (
			Array.isArray(fixed) && Array.isArray(value) && fixed.length === value.length && fixed.every((item, at) => isFixed(value[at], item))
		);
	}
	const names = new Set([...Object.keys(fixed), ...Object.keys(value)]);
	return [...names].every((name) => fixed[name] !== undefined && isFixed(value[name], fixed[name]));
}

/** Tells whether a value has at least what the pattern has (ElementDefinition.pattern[x]); items of lists may stand in any order. */
export function hasPattern(value: Json | undefined, pattern: Json): boolean {
	if (isAtom(pattern) || isAtom(value)) return sameAtom(value, pattern);
	if (Array.isArray(pattern)) {
		return Array.isArray(value) && pattern.every((item) => value.some((held) => hasPattern(held, item)));
	}
	if (Array.isArray(value)) return false;
	return Object.entries(pattern).every(([name, item]) => hasPattern(value[name], item));
}

type Atom = string | number | boolean | null | undefined;

function isAtom(value: Json | undefined): value is Atom {
	return value === undefined || value === null || typeof value !== 'object' || isRawJson(value);
}

/** Decimals that keep their digits are equal as numbers. */
function sameAtom(left: Json | undefined, right: Json): boolean {
	if (left === right) return true;
	const [first, second] = [numberOf(left), numberOf(right)];
	return first !== undefined && first === second;
}

function numberOf(value: Json | undefined): number | undefined {
	if (typeof value === 'number') return value;
	return value !== undefined && isRawJson(value) ? Number((value as unknown as JsonObject)['rawJSON']) : undefined;
}
