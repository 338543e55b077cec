import { open, readFile, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { unlessMissing } from './file-system.ts';
import type { Place } from './object-key.ts';

/** An entry: the offset of a record, and its size in the segment. Both are UInt64LE. */
const entryBytes = 16;

interface Known {
	bytes: number;
	offsets: ReadonlyMap<number, number>;
}

/**
 * The records of each segment that are not wanted any more, in a file beside the segment, to which any process appends. A segment itself
 * never changes. After a loss of power an entry may be missing: the record then is an object without a row, which the sweep finds.
 */
export class Removals {
	readonly #folder: string;
	readonly #known = new Map<string, Known>();

	constructor(folder: string) {
		this.#folder = folder;
	}

	pathOf(segment: string): string {
		return join(this.#folder, `${segment}.removed`);
	}

	/** Notes a removal. One call writes whole entries, so that several processes may append at the same time. */
	async note({ segment, offset }: Pick<Place, 'segment' | 'offset'>, bytes: number): Promise<void> {
		const entry = Buffer.alloc(entryBytes);
		entry.writeBigUInt64LE(BigInt(offset), 0);
		entry.writeBigUInt64LE(BigInt(bytes), 8);
		const file = await open(this.pathOf(segment), 'a', 0o640);
		try {
			await file.write(entry);
		} finally {
			await file.close();
		}
	}

	/** Returns the removed records of a segment: their sizes by their offsets. */
	async of(segment: string): Promise<ReadonlyMap<number, number>> {
		const path = this.pathOf(segment);
		const found = await stat(path).catch((error: unknown) => unlessMissing(error, undefined));
		if (found === undefined) return new Map();
		const known = this.#known.get(segment);
		if (known?.bytes === found.size) return known.offsets;
		const content = await readFile(path);
		const offsets = new Map<number, number>();
		for (let at = 0; at + entryBytes <= content.length; at += entryBytes)
			offsets.set(Number(content.readBigUInt64LE(at)), Number(content.readBigUInt64LE(at + 8)));
		this.#known.set(segment, { bytes: content.length, offsets });
		return offsets;
	}

	/** Removes the list of a segment that is removed. */
	async drop(segment: string): Promise<void> {
		this.#known.delete(segment);
		await rm(this.pathOf(segment), { force: true });
	}
}
