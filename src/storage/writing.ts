import type { Holding } from '#record/apply/holding.ts';
import type { WorkingSet } from '#record/apply/working-set.ts';
import type { StatementRunner } from './connection.ts';
import type { WorkingSets } from './reading.ts';
import type { Statement } from './statement.ts';

/** A batch while it is written. Its statements take effect in the order in which they are sent. */
export class Writing {
	readonly sets: ReadonlyMap<string, WorkingSet>;
	/** `meta.source` of rows that statements move. */
	readonly source: string;
	/** FHIR instant of everything that the batch writes. */
	readonly lastUpdated: string;
	readonly #connection: StatementRunner;
	readonly #sent: Promise<unknown>[] = [];

	constructor(connection: StatementRunner, sets: WorkingSets, source: string, lastUpdated: string) {
		this.#connection = connection;
		this.sets = sets;
		this.source = source;
		this.lastUpdated = lastUpdated;
	}

	send(statement: Statement, values: readonly unknown[]): void {
		this.#sent.push(this.#connection.run(statement, values));
	}

	/** Resolves when everything that was sent is done. */
	async done(): Promise<void> {
		await Promise.all(this.#sent);
	}

	/** Collects the entries of a holding from all sites. */
	of<Held, Entry>(holding: Holding<unknown, Held>, entries: (held: Held, siteId: string) => Entry[]): Entry[] {
		const all: Entry[] = [];
		for (const [siteId, set] of this.sets) {
			const held = set.held(holding);
			if (held !== undefined) all.push(...entries(held, siteId));
		}
		return all;
	}
}
