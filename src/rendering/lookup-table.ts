import { entriesOfTable, entryCount } from '#dicom/palette.ts';
import type { Attributes } from './attributes.ts';
import { NoPicture } from './picture.ts';

const tags = { descriptor: 0x0028_3002, data: 0x0028_3006 } as const;

/** A table of values (PS3.3 §C.11.1.1). Inputs before its first and behind its last entry have the value of that entry. */
export interface LookupTable {
	first: number;
	/** The bits of an entry. */
	bits: number;
	entries: ArrayLike<number>;
}

/** Returns the first item with a table. Some writers leave an item without descriptor and data, which says nothing. */
export function tableItem(attributes: Attributes, sequence: number): Attributes | undefined {
	return attributes.items(sequence).find((item) => [tags.descriptor, tags.data].some((tag) => (item.bytes(tag)?.length ?? 0) > 0));
}

/**
 * Reads a table from the item of a Modality LUT or VOI LUT Sequence.
 * @param isSigned the input is signed
 */
export function lookupTable(item: Attributes, isSigned: boolean): LookupTable {
	const descriptor = item.words(tags.descriptor);
	const [first = 0] = item.words(tags.descriptor, isSigned).slice(1);
	return tableOf(descriptor, first, item.bytes(tags.data), item.words(tags.data));
}

export function tableOf(descriptor: readonly number[], first: number, bytes: Buffer | undefined, words: readonly number[]): LookupTable {
	const [stated, , bits = 16] = descriptor;
	if (stated === undefined || bytes === undefined) throw new NoPicture('a lookup table has no descriptor or no data');
	const count = entryCount(stated);
	const entries = entriesOfTable(count, bytes, words);
	if (entries.length < count || bits < 1 || bits > 16) throw new NoPicture('a lookup table is shorter than its descriptor says');
	return { first, bits, entries };
}

export function lookUp({ first, entries }: LookupTable, count: number): (input: number) => number {
	return (input) => entries[Math.max(0, Math.min(count - 1, Math.round(input) - first))] ?? 0;
}
