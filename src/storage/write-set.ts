import type { StatementRunner } from './connection.ts';
import { storedHoldings } from './holdings/index.ts';
import type { WorkingSets } from './reading.ts';
import { ResourceTables, type TableShapes } from './resource-rows.ts';
import type { StoredHolding } from './stored-holding.ts';
import { Writing } from './writing.ts';

/** The statements of a batch, of which each part makes and sends some. */
export interface WritingInParts {
	readonly parts: readonly (() => void)[];
	done(): Promise<void>;
}

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
		const { parts, done } = this.inParts(connection, sets, source, lastUpdated);
		for (const send of parts) send();
		await done();
	}

	/** Lets the caller send a part of the statements at a time, all of them in their order. `done` resolves when those that were sent are done. */
	inParts(connection: StatementRunner, sets: WorkingSets, source: string, lastUpdated: string): WritingInParts {
		const writing = new Writing(connection, sets, source, lastUpdated, this.#compactFrom);
		const changes = this.#holdings.map((holding) => () => holding.write?.(writing));
		return { parts: [...changes, () => this.#move(writing)], done: () => writing.done() };
	}

	#move(writing: Writing): void {
		for (const [siteId, { moves }] of writing.sets) {
			for (const move of moves) for (const holding of this.#holdings) holding.move?.(writing, siteId, move);
		}
	}
}
