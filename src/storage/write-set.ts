import type { StatementRunner } from './connection.ts';
import { storedHoldings } from './holdings/index.ts';
import type { WorkingSets } from './reading.ts';
import { ResourceTables, type TableShapes } from './resource-rows.ts';
import type { StoredHolding } from './stored-holding.ts';
import { Writing } from './writing.ts';

/** Writes the changes of a batch's working sets: one statement for each table that changed. */
export class WriteSet {
	readonly #holdings: readonly StoredHolding[];
	readonly #compactFrom: number;

	constructor(shapes: TableShapes, compactFrom: number) {
		this.#compactFrom = compactFrom;
		const tables = new ResourceTables(shapes);
		this.#holdings = storedHoldings.map((stored) => stored(tables));
	}

	/** Sends all statements at once; resolves when the last is done. */
	async write(connection: StatementRunner, sets: WorkingSets, source: string, lastUpdated: string): Promise<void> {
		const writing = new Writing(connection, sets, source, lastUpdated, this.#compactFrom);
		for (const holding of this.#holdings) holding.write?.(writing);
		for (const [siteId, { moves }] of sets) {
			for (const move of moves) for (const holding of this.#holdings) holding.move?.(writing, siteId, move);
		}
		await writing.done();
	}
}
