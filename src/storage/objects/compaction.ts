import { Failure } from '#core/failure.ts';
import type { ConnectionPool } from '../connection-pool.ts';
import type { Relocation } from '../statements/relocate-objects.ts';
import type { FileStore } from './file-store.ts';
import { placedKey } from './object-key.ts';
import type { Pace } from './pace.ts';
import { objectsNamed, relocate } from './relocate.ts';
import type { RecordHead } from './segment-format.ts';

/** Records whose rows are changed together: a site's turn is held for some milliseconds. */
const batchRecords = 200;

export interface CompactionOptions {
	/** Reads the segment and appends the copies. */
	store: FileStore;
	database: ConnectionPool;
	pace: Pace;
}

/** This became of a segment. */
export interface Compacted {
	/** The bytes of the records that were copied. */
	bytes: number;
	/** Records that are damaged. While there are any, the segment stays. */
	damaged: number;
}

/**
 * Copies every record of a segment that nobody has removed, lets the rows name the copies, and notes that the segment is empty. A record that no
 * row names is copied too: only `doctor --objects --remove` decides that it is not wanted.
 */
export async function compactSegment(segment: string, { store, database, pace }: CompactionOptions): Promise<Compacted> {
	const compacted = { bytes: 0, damaged: 0 };
	const removed = await store.removals.of(segment);
	let batch: RecordHead[] = [];
	const settle = async () => {
		const relocations = await copied(segment, batch, { store, database, pace }, compacted);
		await relocate(database, relocations);
		batch = [];
	};
	for await (const { record, gap } of store.segments.scan(segment)) {
		pace.stopIfEnded();
		// Bytes that cannot be read may be an object whose head is damaged. A torn tail at the end is none: nothing in it was acknowledged.
		if (gap !== undefined && !(await isTail(store, segment, gap.end))) compacted.damaged += 1;
		if (record === undefined || removed.has(record.offset)) continue;
		batch.push(record);
		if (batch.length === batchRecords) await settle();
	}
	await settle();
	if (compacted.damaged === 0) await store.segments.markEmptied(segment);
	return compacted;
}

async function isTail(store: FileStore, segment: string, end: number): Promise<boolean> {
	return end >= (await store.segments.bytesOf(segment));
}

/** Copies records, and returns where they are now. Those that have been moved before are left out. */
async function copied(
	segment: string,
	records: readonly RecordHead[],
	{ store, database, pace }: CompactionOptions,
	compacted: Compacted,
): Promise<Relocation[]> {
	const named = await objectsNamed(
		database,
		records.map(({ text: { site: siteId, sopInstanceUid } }) => ({ siteId, sopInstanceUid })),
	);
	const relocations: Relocation[] = [];
	for (const record of records) {
		const { site: siteId, id, sopInstanceUid } = record.text;
		const from = placedKey({ siteId, segment, offset: record.offset, id });
		const known = named.get(id);
		if (known !== undefined && known.key !== from) continue;
		const to = await copy(store, from, record);
		if (to === undefined) compacted.damaged += 1;
		else {
			relocations.push({ siteId, sopInstanceUid, from, to });
			compacted.bytes += record.contentBytes;
			await pace.rest(record.contentBytes);
		}
	}
	return relocations;
}

/** Copies a record and compares its content with its digest. Returns undefined when they differ: then there is no copy. */
async function copy(store: FileStore, from: string, { preambleBytes, digest, text }: RecordHead): Promise<string | undefined> {
	let writer: ReturnType<FileStore['begin']> | undefined;
	let preamble: Uint8Array = Buffer.alloc(0);
	try {
		for await (const piece of store.read(from)) {
			if (writer) {
				await writer.write(piece);
				continue;
			}
			preamble = Buffer.concat([preamble, piece]);
			if (preamble.length < preambleBytes) continue;
			writer = store.begin(preamble.subarray(0, preambleBytes));
			await writer.write(preamble.subarray(preambleBytes));
		}
		if (writer === undefined) return undefined;
		const finished = await writer.finish();
		return finished.digest === digest ? await writer.publish(from, text) : undefined;
	} catch (error) {
		if (error instanceof Failure && error.code === 'not-found') return undefined;
		throw error;
	} finally {
		await writer?.abandon();
	}
}
