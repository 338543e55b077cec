/** JSON as TypeScript sees it. */
export type Json = string | number | boolean | null | Json[] | { [member: string]: Json };
export type JsonObject = { [member: string]: Json };

const rawJson = (JSON as unknown as { rawJSON(text: string): Json }).rawJSON;
/** Tells whether a value is a decimal that keeps its digits (`exactDecimal`), and not an object. */
export const isRawJson = (JSON as unknown as { isRawJSON(value: unknown): boolean }).isRawJSON;
/** Matches a number after a member name or in a list. A match inside a string only costs time, not digits. */
const decimalDigits = /(?:":|[[,])\s*(?:-0|-?\d+(?:\.|[eE]|\d{15}))/;

/** A number that is stringified with exactly these digits. `digits` must be a JSON number (RFC 8259 §6). */
export function exactDecimal(digits: string): Json {
	return rawJson(digits);
}

/**
 * Parses JSON so that stringifying the result gives every decimal back with the digits it came with: `1.00` stays
 * `1.00` (FHIR R4 §2.24.0.1). Numbers with a fraction, an exponent or more than 15 digits, and -0, become raw JSON
 * values, not JavaScript numbers.
 */
export function parseExact(text: string): JsonObject {
	if (!decimalDigits.test(text)) return JSON.parse(text);
	const reviver = (_key: string, value: unknown, context?: { source?: string }): unknown =>
		typeof value === 'number' && context?.source !== undefined && /[.eE]|\d{16}|^-0$/.test(context.source)
			? rawJson(context.source)
			: value;
	return JSON.parse(text, reviver as (key: string, value: unknown) => unknown);
}

/** Returns the same text for the same content, whatever the order of members. */
export function canonical(value: Json): string {
	return JSON.stringify(value, (_name, member: Json) => {
		if (member === null || typeof member !== 'object' || Array.isArray(member) || isRawJson(member)) return member;
		return Object.fromEntries(Object.entries(member).sort(([left], [right]) => (left < right ? -1 : 1)));
	});
}

const decimal = /^(-?)(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d{1,15}))?$/;

/** Returns the same text for the same number, however it is written: `1.10E2`, `110`. */
function magnitude(number: Json): string {
	const text = JSON.stringify(number);
	const match = decimal.exec(text);
	if (match === null) return text;
	const [, sign = '', whole = '', fraction = '', exponent = '0'] = match;
	const digits = `${whole}${fraction}`.replace(/^0+/, '');
	if (digits === '') return '0';
	let end = digits.length;
	while (digits.charCodeAt(end - 1) === 0x30) end--;
	return `${sign}${digits.slice(0, end)}e${Number(exponent) - fraction.length + digits.length - end}`;
}

/** Tells whether two values are equal: numbers by their value, objects whatever the order of their members (RFC 6902 §4.6). */
export function isEqualJson(left: Json, right: Json): boolean {
	const [isNumber, isOther] = [left, right].map((value) => typeof value === 'number' || isRawJson(value));
	if (isNumber || isOther) return isNumber === isOther && magnitude(left) === magnitude(right);
	if (left === null || right === null || typeof left !== 'object' || typeof right !== 'object') return left === right;
	if (Array.isArray(left) || Array.isArray(right)) {
		if (!Array.isArray(left) || !Array.isArray(right) || left.length !== right.length) return false;
		return left.every((item, index) => isEqualJson(item, right[index] as Json));
	}
	const names = Object.keys(left);
	if (names.length !== Object.keys(right).length) return false;
	return names.every((name) => Object.hasOwn(right, name) && isEqualJson(left[name] as Json, right[name] as Json));
}

/** Copies a value deeply; exact decimals stay as they are. */
export function copyJson<T extends Json>(value: T): T {
	if (Array.isArray(value)) return value.map((item: Json) => copyJson(item)) as T;
	if (value === null || typeof value !== 'object' || isRawJson(value)) return value;
	const copy: JsonObject = {};
	for (const name in value) copy[name] = copyJson((value as JsonObject)[name] as Json);
	return copy as T;
}
