import { nilId } from '#core/id.ts';

/** A prepared statement: its name on the connection, its text. Site ids are always `$1`. */
export interface Statement {
	readonly name: string;
	readonly text: string;
}

/** SQL of the nil id: a row of no site, a message of no client. */
export const nilIdSql = `'${nilId}'::uuid`;

/**
 * A PostgreSQL array literal of values that need no quoting: UUIDs, numbers, booleans, FHIR instants; null becomes NULL.
 */
export function plainArray(values: readonly (string | number | boolean | null)[]): string {
	return `{${values.map((value) => (value === null ? 'NULL' : value)).join(',')}}`;
}

/** A PostgreSQL array literal of texts. NUL, which PostgreSQL cannot hold, is dropped. */
export function textArray(values: readonly (string | null)[]): string {
	let literal = '{';
	for (let index = 0; index < values.length; index++) {
		if (index > 0) literal += ',';
		const value = values[index];
		literal += value === null || value === undefined ? 'NULL' : quoted(value);
	}
	return `${literal}}`;
}

const special = /["\\\0]/;

function quoted(value: string): string {
	if (!special.test(value)) return `"${value}"`;
	return `"${value.replace(/\0/g, '').replace(/["\\]/g, '\\$&')}"`;
}

/**
 * Packs many texts or byte strings as one binary parameter with their offsets (1-based, as `substring` counts) and lengths in bytes.
 * PostgreSQL
 * divides them again, so nothing needs escaping.
 */
export interface Packed {
	bytes: Buffer;
	offsets: string;
	lengths: string;
}

export function packTexts(texts: readonly string[]): Packed {
	const lengths = texts.map((text) => Buffer.byteLength(text));
	const packed = pack(lengths);
	let offset = 0;
	for (let index = 0; index < texts.length; index++) {
		packed.bytes.write(texts[index] as string, offset);
		offset += lengths[index] as number;
	}
	return packed;
}

export function packBytes(parts: readonly Uint8Array[]): Packed {
	const packed = pack(parts.map((part) => part.length));
	let offset = 0;
	for (const part of parts) {
		packed.bytes.set(part, offset);
		offset += part.length;
	}
	return packed;
}

function pack(lengths: readonly number[]): Packed {
	let total = 0;
	const offsets = lengths.map((length) => {
		const offset = total + 1;
		total += length;
		return offset;
	});
	return { bytes: Buffer.allocUnsafe(total), offsets: plainArray(offsets), lengths: plainArray(lengths) };
}
