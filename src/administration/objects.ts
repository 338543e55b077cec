import { nilId } from '#core/id.ts';
import { readRows } from '#storage/administrative-reader.ts';
import type { ObjectStore } from '#storage/objects/object-store.ts';
import { sweepObjects } from '#storage/objects/sweep.ts';
import { indexedObjects, knownObjects } from '#storage/statements/administrative/known-objects.ts';

export interface ObjectReport {
	objects: number;
	bytes: number;
	/** Objects that no row names, an hour old at least. */
	objects_without_rows: number;
	removed: number;
	/** Rows whose object is not there. */
	rows_without_objects: number;
	examples: string[];
}

/** What is still on its way into the index is younger than this. */
const settledMs = 3_600_000;
const examplesMax = 20;

interface IndexedRow {
	site_id: string;
	sop_instance_uid: string;
	object_key: string;
}

/** Holds the object store against the index, both ways; objects without rows are removed only when asked. */
export async function checkObjects(databaseUrl: string, store: ObjectStore, nowMs: number, remove: boolean): Promise<ObjectReport> {
	const knows = async (keys: readonly string[]) => {
		const rows = await readRows<{ object_key: string }>(databaseUrl, knownObjects, [keys]);
		return new Set(rows.map((row) => row.object_key));
	};
	const { objects, bytes, orphans, removed, examples } = await sweepObjects(store, { knows, before: nowMs - settledMs, remove });
	const missing: string[] = [];
	let missingCount = 0;
	for (let after: IndexedRow | undefined; ; ) {
		const page: IndexedRow[] = await readRows(databaseUrl, indexedObjects, [after?.site_id ?? nilId, after?.sop_instance_uid ?? '']);
		for (const { object_key: key } of page) {
			if ((await store.size(key)) !== undefined) continue;
			missingCount++;
			if (missing.length < examplesMax) missing.push(key);
		}
		after = page.at(-1);
		if (after === undefined) break;
	}
	const shown = [...examples.slice(0, examplesMax), ...missing];
	return { objects, bytes, objects_without_rows: orphans, removed, rows_without_objects: missingCount, examples: shown };
}
