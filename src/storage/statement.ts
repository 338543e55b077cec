import { nilId } from '#core/id.ts';

/** A prepared statement: its name on the connection, its text. Site ids are always `$1`. */
export interface Statement {
	readonly name: string;
	readonly text: string;
}

/** The names of prepared searches begin with it. */
export const searchPrefix = 'search_';

/** SQL of the nil id: a row of no site, a message of no client. */
export const nilIdSql = `'${nilId}'::uuid`;

type PlainValue = string | number | boolean | null;

/** The values of a column, one for each row of a statement: an array for PostgreSQL. */
export class ColumnValues {
	readonly #values: readonly PlainValue[];
	readonly #isQuoted: boolean;

	constructor(values: readonly PlainValue[], isQuoted: boolean) {
		this.#values = values;
		this.#isQuoted = isQuoted;
	}

	/** The number of rows. */
	get length(): number {
		return this.#values.length;
	}

	/** The value of the only row, as it is sent without an array. */
	get only(): string | null {
		const value = this.#values[0] ?? null;
		if (value === null) return null;
		return this.#isQuoted ? withoutNul(String(value)) : String(value);
	}

	/** Returns each value once, as a text. */
	distinct(): string[] {
		return [...new Set(this.#values)].flatMap((value) => (value === null ? [] : [String(value)]));
	}

	/** The array as PostgreSQL writes it. The driver asks for it by this name. */
	toPostgres(): string {
		return this.#isQuoted ? textLiteral(this.#values as readonly (string | null)[]) : plainLiteral(this.#values);
	}
}

/** Values that need no quoting: UUIDs, numbers, booleans; null becomes NULL. */
export function plainArray(values: readonly PlainValue[]): ColumnValues {
	return new ColumnValues(values, false);
}

/** Texts. NUL, which PostgreSQL cannot hold, is dropped. */
export function textArray(values: readonly (string | null)[]): ColumnValues {
	return new ColumnValues(values, true);
}

function plainLiteral(values: readonly PlainValue[]): string {
	let literal = '{';
	for (let index = 0; index < values.length; index++) {
		if (index > 0) literal += ',';
		literal += values[index] ?? 'NULL';
	}
	return `${literal}}`;
}

/** A PostgreSQL array literal of texts. NUL, which PostgreSQL cannot hold, is dropped. */
export function textLiteral(values: readonly (string | null)[]): string {
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
	return `"${withoutNul(value).replace(/["\\]/g, '\\$&')}"`;
}

function withoutNul(value: string): string {
	return value.includes('\0') ? value.replace(/\0/g, '') : value;
}

/**
 * Packs many texts or byte strings as one binary parameter with their offsets (1-based, as `substring` counts) and lengths in bytes.
 * PostgreSQL
 * divides them again, so nothing needs escaping.
 */
export interface Packed {
	bytes: Buffer;
	offsets: ColumnValues;
	lengths: ColumnValues;
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
