import { isFhirId, rowIdOf } from '#record/row-id.ts';
import type { StoredResource } from '#record/stored-resource.ts';
import type { Reader } from './reader.ts';
import { rowOf } from './search.ts';
import { plainArray } from './statement.ts';
import { readRowsStatement } from './statements/read-rows.ts';

interface Wanted {
	siteId: string;
	rowId: string;
	resolve(row: StoredResource | undefined): void;
	reject(error: unknown): void;
}

/** One query reads this many resources at most; the others come with the next one. */
const rowsMax = 64;
/** Queries of one table under way at once. Reads that come meanwhile share the next. */
const queriesMax = 2;

/**
 * Reads by id, many in one query: while two queries are under way, the reads of all callers gather for the next. A single read does not
 * wait.
 * Each row goes to the caller that asked for it, by its place in the query, and is looked up only in that caller's site.
 */
export class ResourceReads {
	readonly #reader: Reader;
	readonly #tables = new Map<string, { waiting: Wanted[]; underWay: number; scheduled: boolean }>();

	constructor(reader: Reader) {
		this.#reader = reader;
	}

	/** Returns one resource of the site; undefined when the site has none with this id. */
	read(siteId: string, table: string, id: string): Promise<StoredResource | undefined> {
		if (!isFhirId(id)) return Promise.resolve(undefined);
		return new Promise((resolve, reject) => {
			const queue = this.#queue(table);
			queue.waiting.push({ siteId, rowId: rowIdOf(id), resolve, reject });
			this.#schedule(table);
		});
	}

	#queue(table: string): { waiting: Wanted[]; underWay: number; scheduled: boolean } {
		let queue = this.#tables.get(table);
		if (queue === undefined) {
			queue = { waiting: [], underWay: 0, scheduled: false };
			this.#tables.set(table, queue);
		}
		return queue;
	}

	/** Runs at the end of the I/O phase, so that reads that arrived on other sockets meanwhile share the query. */
	#schedule(table: string): void {
		const queue = this.#queue(table);
		if (queue.scheduled || queue.underWay >= queriesMax || queue.waiting.length === 0) return;
		queue.scheduled = true;
		setImmediate(() => {
			queue.scheduled = false;
			const batch = queue.waiting.splice(0, rowsMax);
			queue.underWay++;
			void this.#carryOut(table, batch).finally(() => {
				queue.underWay--;
				this.#schedule(table);
			});
			this.#schedule(table);
		});
	}

	async #carryOut(table: string, batch: readonly Wanted[]): Promise<void> {
		try {
			const values = [plainArray(batch.map(({ siteId }) => siteId)), plainArray(batch.map(({ rowId }) => rowId))];
			const rows = await this.#reader.run(readRowsStatement(table), values);
			const found = new Map(rows.map(([place, ...cells]) => [Number(place), rowOf(cells)]));
			for (const [index, { resolve }] of batch.entries()) resolve(found.get(index + 1));
		} catch (error) {
			for (const { reject } of batch) reject(error);
		}
	}
}
