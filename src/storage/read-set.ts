import type { SiteKeys } from '#record/apply/site-keys.ts';
import type { StatementRunner } from './connection.ts';
import { storedHoldings } from './holdings/index.ts';
import { Reading, type WorkingSets } from './reading.ts';
import { ResourceTables, type TableShapes } from './resource-rows.ts';
import type { StoredHolding } from './stored-holding.ts';

/** Reads the rows that a batch names of its sites. */
export class ReadSet {
	readonly #holdings: readonly StoredHolding[];

	constructor(shapes: TableShapes) {
		const tables = new ResourceTables(shapes);
		this.#holdings = storedHoldings.map((stored) => stored(tables));
	}

	/** Reads everything that the batch names, one query for each kind, all sent at once. A site without keys gets an empty working set. */
	async read(connection: StatementRunner, keys: ReadonlyMap<string, SiteKeys>): Promise<WorkingSets> {
		const reading = new Reading(connection, keys);
		await Promise.all(this.#holdings.map((holding) => holding.read?.(reading)));
		await Promise.all(this.#holdings.map((holding) => holding.readBehind?.(reading)));
		await Promise.all(this.#holdings.map((holding) => holding.readOfPatients?.(reading)));
		return reading.sets;
	}
}
