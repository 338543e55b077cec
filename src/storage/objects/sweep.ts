import { isQuarantined, publishedKey } from './object-key.ts';
import type { ObjectStore } from './object-store.ts';

export interface SweepOptions {
	/**
	 * Returns those of the keys that are in the index of their site, as an instance or in a conflict. Quarantined objects are looked up by
	 * the
	 * key under which they were published.
	 */
	knows: (keys: readonly string[]) => Promise<ReadonlySet<string>>;
	/** Objects that changed later than this (milliseconds since 1970) are skipped, because they may still be waiting to be indexed. */
	before: number;
	/** False means that orphans are only counted. Quarantined objects are never removed. */
	remove: boolean;
}

export interface SweepReport {
	/** Objects that were looked at. */
	objects: number;
	/** Objects that were skipped, because they changed too recently. */
	skipped: number;
	bytes: number;
	/** Objects that the index does not know. */
	orphans: number;
	removed: number;
	/** Keys of the first orphans. */
	examples: string[];
}

/** Keys that one statement looks up. */
const batchKeys = 500;
/** The report counts all objects and gives some examples. */
const examplesMax = 100;

/** Compares the store with the index. Orphans are left by a crash between publishing an object and indexing it. */
export async function sweepObjects(store: ObjectStore, options: SweepOptions): Promise<SweepReport> {
	const report: SweepReport = { objects: 0, skipped: 0, bytes: 0, orphans: 0, removed: 0, examples: [] };
	const settle = async (keys: readonly string[]) => {
		const known = await options.knows(keys.map(publishedKey));
		for (const key of keys) {
			if (known.has(publishedKey(key))) continue;
			report.orphans += 1;
			if (report.examples.length < examplesMax) report.examples.push(key);
			if (options.remove && !isQuarantined(key) && (await store.remove(key))) report.removed += 1;
		}
	};
	let batch: string[] = [];
	for await (const { key, bytes, changedMs } of store.list()) {
		if (changedMs > options.before) {
			report.skipped += 1;
			continue;
		}
		report.objects += 1;
		report.bytes += bytes;
		batch.push(key);
		if (batch.length < batchKeys) continue;
		await settle(batch);
		batch = [];
	}
	if (batch.length > 0) await settle(batch);
	return report;
}
