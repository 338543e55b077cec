import { Failure } from '#core/failure.ts';
import { type Json, type JsonObject, parseExact } from '#core/json.ts';
import { findJsonFault } from './json-fault.ts';

const { isRawJSON } = JSON as unknown as { isRawJSON(value: unknown): boolean };
const strictUtf8 = new TextDecoder('utf-8', { fatal: true });

export interface JsonLimits {
	/** The largest number of nested objects and lists, counting the outermost. */
	depthMax: number;
}

/**
 * Parses the body of a FHIR request (FHIR R4 §2.1.0.1, RFC 8259) in time linear in its length. A byte order mark is skipped. Decimals keep
 * their
 * digits (`parseExact`).
 * @throws Failure `invalid` unless it is one JSON object in UTF-8, within the depth limit, without a repeated member name in an object,
 * without
 * `__proto__`, and without half a surrogate pair. Its text names the line and column, both from 1.
 */
export function parseResourceJson(bytes: Uint8Array, limits: JsonLimits): JsonObject {
	const text = decode(bytes);
	const members = countMembers(text, limits.depthMax);
	if (members === undefined) throw faultOf(text, limits.depthMax);
	const value = parsed(text, limits.depthMax);
	if (value === null || typeof value !== 'object' || Array.isArray(value)) throw new Failure('invalid', 'The body is not a JSON object');
	// JSON.parse merges a repeated name into one member, so the text then has more members than the value.
	const escapes = text.includes('\\u');
	const suspicious = escapes || text.includes('__proto__');
	if (membersIn(value, suspicious, escapes) !== members) throw faultOf(text, limits.depthMax);
	return value;
}

function decode(bytes: Uint8Array): string {
	try {
		return strictUtf8.decode(bytes);
	} catch (cause) {
		throw new Failure('invalid', `The body is not UTF-8: ${placeOfBadBytes(bytes)}`, { cause });
	}
}

function parsed(text: string, depthMax: number): Json {
	try {
		return parseExact(text);
	} catch (cause) {
		// The messages of JSON.parse quote the text.
		if (cause instanceof SyntaxError) throw faultOf(text, depthMax);
		throw cause;
	}
}

const quote = 0x22;
const backslash = 0x5c;

/** Counts colons outside strings; undefined when it is nested too deeply or a string does not end. It finds no other faults. */
function countMembers(text: string, depthMax: number): number | undefined {
	let members = 0;
	let depth = 0;
	for (let at = 0; at < text.length; at++) {
		switch (text.charCodeAt(at)) {
			case quote:
				at = endOfString(text, at);
				if (at < 0) return undefined;
				break;
			case 0x3a:
				members++;
				break;
			case 0x7b:
			case 0x5b:
				if (++depth > depthMax) return undefined;
				break;
			case 0x7d:
			case 0x5d:
				depth--;
		}
	}
	return members;
}

/** Returns the position at which the string that begins at `start` ends, or -1. */
function endOfString(text: string, start: number): number {
	for (let end = text.indexOf('"', start + 1); end >= 0; end = text.indexOf('"', end + 1)) {
		let escapes = 0;
		while (text.charCodeAt(end - 1 - escapes) === backslash) escapes++;
		if (escapes % 2 === 0) return end;
	}
	return -1;
}

/** Counts members at every depth; NaN when one is called `__proto__` or a text holds half a surrogate pair. */
function membersIn(value: Json, suspicious: boolean, escapes: boolean): number {
	if (typeof value === 'string') return !escapes || value.isWellFormed() ? 0 : Number.NaN;
	if (value === null || typeof value !== 'object') return 0;
	let members = 0;
	if (Array.isArray(value)) {
		for (const item of value) members += membersIn(item, suspicious, escapes);
		return members;
	}
	for (const name in value) {
		if (name === 'rawJSON' && isRawJSON(value)) return 0;
		if (suspicious && (name === '__proto__' || !name.isWellFormed())) return Number.NaN;
		const member = value[name];
		members += 1;
		if (typeof member === 'object' || escapes) members += membersIn(member as Json, suspicious, escapes);
	}
	return members;
}

function faultOf(text: string, depthMax: number): Failure {
	const fault = findJsonFault(text, depthMax);
	if (fault === undefined) return new Failure('invalid', 'The body is not JSON as FHIR takes it');
	const diagnostics = `${fault.what} (${place(text.slice(0, fault.offset))})`;
	return new Failure('invalid', diagnostics, fault.expression === '' ? {} : { location: { expression: fault.expression } });
}

/** Describes the position after `before`. */
function place(before: string): string {
	const line = before.split('\n').length;
	return `line ${line}, column ${before.length - before.lastIndexOf('\n')}`;
}

/** Finds bytes that are no UTF-8: encoding the lossily decoded text again differs from the bytes at the first of them. */
function placeOfBadBytes(bytes: Uint8Array): string {
	const rewritten = new TextEncoder().encode(new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes));
	const offset = bytes.findIndex((byte, at) => byte !== rewritten[at]);
	return place(new TextDecoder().decode(bytes.subarray(0, offset < 0 ? bytes.length : offset)));
}
