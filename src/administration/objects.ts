import { nilId } from '#core/id.ts';
import type { ConnectionPool } from '#storage/connection-pool.ts';
import { quarantineKey } from '#storage/objects/object-key.ts';
import { type ObjectStore, settlingMs } from '#storage/objects/object-store.ts';
import { sweepObjects } from '#storage/objects/sweep.ts';
import { indexedObjects, knownObjects } from '#storage/statements/administrative/known-objects.ts';
import { conflictObjects } from '#storage/statements/administrative/read-conflicts.ts';

export interface ObjectReport {
	/** Objects that were compared with the index. */
	objects: number;
	/** Objects that were not, because they are younger than an hour and may still be on their way into the index. */
	objects_too_young: number;
	bytes: number;
	/** Objects at least an hour old that no row names. */
	objects_without_rows: number;
	removed: number;
	/** Rows of instances and conflicts whose object is missing. */
	rows_without_objects: number;
	/** Intact objects that are in quarantine while their row says otherwise, or the reverse. */
	misplaced: number;
	moved: number;
	examples: string[];
}

/** How to treat what is found. By default it is only counted. */
export interface Mending {
	/** Removes objects without rows, except those in quarantine. */
	remove: boolean;
	/** Moves objects to where their rows expect them. */
	repair: boolean;
}

/** The report counts all objects and gives some examples. */
const examplesMax = 20;
/** The store answers these at the same time. More would keep it from the instances that come in. */
const askedAtOnce = 16;

interface IndexedRow {
	site_id: string;
	sop_instance_uid: string;
	object_key: string;
}

interface ConflictRow {
	site_id: string;
	id: string;
	object_key: string;
	changed_at: Date;
}

/** Compares the object store with the index in both directions. It removes and moves objects only on request. */
export async function checkObjects(database: ConnectionPool, store: ObjectStore, nowMs: number, mending: Mending): Promise<ObjectReport> {
	const knows = async (keys: readonly string[]) => {
		const rows = await database.rows<{ object_key: string }>(knownObjects, [keys]);
		return new Set(rows.map((row) => row.object_key));
	};
	const swept = await sweepObjects(store, { knows, before: nowMs - settlingMs, remove: mending.remove });
	const places = new Places(store, mending.repair);
	for (let after: IndexedRow | undefined; ; ) {
		const page: IndexedRow[] = await database.rows(indexedObjects, [after?.site_id ?? nilId, after?.sop_instance_uid ?? '']);
		await places.check(page.map(({ object_key: key }) => [key, quarantineKey(key)]));
		after = page.at(-1);
		if (after === undefined) break;
	}
	for (let after: ConflictRow | undefined; ; ) {
		const page: ConflictRow[] = await database.rows(conflictObjects, [after?.site_id ?? nilId, after?.id ?? nilId]);
		const settled = page.filter(({ changed_at: changed }) => changed.getTime() <= nowMs - settlingMs);
		await places.check(settled.map(({ object_key: key }) => [quarantineKey(key), key]));
		after = page.at(-1);
		if (after === undefined) break;
	}
	return {
		objects: swept.objects,
		objects_too_young: swept.skipped,
		bytes: swept.bytes,
		objects_without_rows: swept.orphans,
		removed: swept.removed,
		rows_without_objects: places.missing,
		misplaced: places.misplaced,
		moved: places.moved,
		examples: [...swept.examples.slice(0, examplesMax), ...places.examples],
	};
}

/** Checks that the objects of rows are where the rows expect them. */
class Places {
	readonly #store: ObjectStore;
	readonly #repair: boolean;
	missing = 0;
	misplaced = 0;
	moved = 0;
	readonly examples: string[] = [];

	constructor(store: ObjectStore, repair: boolean) {
		this.#store = store;
		this.#repair = repair;
	}

	async check(rows: readonly [place: string, other: string][]): Promise<void> {
		for (let at = 0; at < rows.length; at += askedAtOnce)
			await Promise.all(rows.slice(at, at + askedAtOnce).map(([place, other]) => this.#check(place, other)));
	}

	async #check(place: string, other: string): Promise<void> {
		if ((await this.#store.size(place)) !== undefined) return;
		const isThere = (await this.#store.size(other)) !== undefined;
		if (isThere) this.misplaced++;
		else this.missing++;
		if (this.examples.length < examplesMax) this.examples.push(place);
		if (!isThere || !this.#repair) return;
		await this.#store.move(other, place);
		this.moved++;
	}
}
