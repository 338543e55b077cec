/** The segments of a palette are broken, or do not fill it. */
class BrokenSegments extends Error {}

/** The number of entries as the descriptor of a table states it: 0 stands for 65,536 (PS3.3 §C.11.1.1.1). */
export const entryCount = (stated: number): number => stated || 65_536;

/** The entries of a table. Tables of 8 bits are met with an entry in each byte, and with one in each word. */
export function entriesOfTable<Bytes, Words>(
	count: number,
	bytes: Bytes & ArrayLike<number>,
	words: Words & ArrayLike<number>,
): Bytes | Words {
	return words.length < count && bytes.length >= count ? bytes : words;
}

/** The kinds of segments (PS3.3 §C.7.9.2). */
const kinds = { discrete: 0, linear: 1, indirect: 2 } as const;

/** Reads segments from the numbers of a palette and appends the entries for which they stand. */
class Expansion {
	readonly entries: number[] = [];
	readonly #numbers: ArrayLike<number>;
	readonly #bits: number;
	readonly #count: number;

	constructor(numbers: ArrayLike<number>, bits: number, count: number) {
		this.#numbers = numbers;
		this.#bits = bits;
		this.#count = count;
	}

	/** Expands all segments, or as many as are wanted; what lies behind the last entry only makes the length even. */
	expand(from: number, segments: number, isCopy: boolean): void {
		let at = from;
		for (let done = 0; done < segments && at + 1 < this.#numbers.length && this.entries.length < this.#count; done++) {
			const kind = this.#number(at);
			const length = this.#number(at + 1);
			if (kind === kinds.discrete) this.#discrete(at + 2, length);
			else if (kind === kinds.linear) this.#linear(this.#number(at + 2), length);
			else if (kind === kinds.indirect && !isCopy) this.expand(this.#target(at + 2), length, true);
			else throw new BrokenSegments();
			at += kind === kinds.discrete ? 2 + length : kind === kinds.linear ? 3 : 2 + this.#offsetNumbers;
		}
	}

	#number(at: number): number {
		return this.#numbers[at] ?? fail();
	}

	#discrete(from: number, length: number): void {
		for (let index = 0; index < length; index++) this.#append(this.#number(from + index));
	}

	/** A line from the last entry, which is not part of it, to a value. */
	#linear(end: number, length: number): void {
		const start = this.entries.at(-1) ?? fail();
		for (let index = 1; index <= length; index++) this.#append(Math.round(start + ((end - start) * index) / length));
	}

	#append(entry: number): void {
		if (this.entries.length === this.#count) throw new BrokenSegments();
		this.entries.push(entry);
	}

	/** The offset of a copied segment has four bytes. */
	get #offsetNumbers(): number {
		return this.#bits === 8 ? 4 : 2;
	}

	/** The offset counts bytes, the least significant number comes first. */
	#target(at: number): number {
		let offset = 0;
		for (let index = this.#offsetNumbers - 1; index >= 0; index--) offset = offset * 2 ** this.#bits + this.#number(at + index);
		return this.#bits === 8 ? offset : Math.floor(offset / 2);
	}
}

function fail(): never {
	throw new BrokenSegments();
}

/**
 * Returns the entries of a Segmented Palette Color Lookup Table (PS3.3 §C.7.9.2); undefined when the segments are broken, or do not give as many
 * entries as the descriptor says.
 * @param descriptor the number of entries (0 stands for 65,536), the first stored value, and the bits of an entry: 8 or 16
 */
export function expandedPalette(descriptor: readonly number[], bytes: Uint8Array, words: ArrayLike<number>): readonly number[] | undefined {
	const [stated, , bits = 16] = descriptor;
	if (stated === undefined || (bits !== 8 && bits !== 16)) return undefined;
	const count = entryCount(stated);
	const expansion = new Expansion(bits === 8 ? bytes : words, bits, count);
	try {
		expansion.expand(0, Number.POSITIVE_INFINITY, false);
	} catch (error) {
		if (error instanceof BrokenSegments) return undefined;
		throw error;
	}
	return expansion.entries.length === count ? expansion.entries : undefined;
}

/** Entries as they are shown, of 8 bits. Some writers fill only the lower half of entries that they say have 16 bits. */
export function eightBitEntries(entries: ArrayLike<number>, bits: number): Uint8Array {
	let most = 0;
	for (let index = 0; index < entries.length; index++) most = Math.max(most, entries[index] ?? 0);
	const isWide = bits > 8 && most > 255;
	return Uint8Array.from(entries, (entry) => (isWide ? entry >> 8 : entry));
}
