import type { Holding } from '#record/apply/holding.ts';
import type { Row } from '#record/apply/rows.ts';
import type { WorkingSet } from '#record/apply/working-set.ts';
import { compactText } from '#record/compact-text.ts';
import type { StatementRunner } from './connection.ts';
import type { WorkingSets } from './reading.ts';
import type { Statement } from './statement.ts';

/** `meta.source` of what FHIR clients write begins with it (ingest/settlement). */
const clientSource = 'urn:tributary:fhir:';

/**
 * Removes NUL. PostgreSQL cannot hold it, and refuses its escape when it reads the text as JSON, so one such row would make searches fail.
 */
function withoutNul(text: string): string {
	return text.includes('\\u0000') ? text.replace(/(?<!\\)((?:\\\\)*)\\u0000/g, '$1') : text;
}

/** A batch while it is written. Its statements take effect in the order in which they are sent. */
export class Writing {
	readonly sets: ReadonlyMap<string, WorkingSet>;
	/** `meta.source` of rows that statements move. */
	readonly source: string;
	/** FHIR instant of everything that the batch writes. */
	readonly lastUpdated: string;
	readonly #connection: StatementRunner;
	readonly #compactFrom: number;
	readonly #sent: Promise<unknown>[] = [];

	/** @param compactFrom texts that messages wrote are stored compact from so many characters on; 0: none is */
	constructor(connection: StatementRunner, sets: WorkingSets, source: string, lastUpdated: string, compactFrom: number) {
		this.#connection = connection;
		this.#compactFrom = compactFrom;
		this.sets = sets;
		this.source = source;
		this.lastUpdated = lastUpdated;
	}

	/**
	 * Returns the text of a row as it is stored. What FHIR clients write is stored as it is: they choose its form, and read it more often than it is
	 * written.
	 */
	textOf({ text, source }: Row): string {
		const valid = withoutNul(text);
		if (this.#compactFrom === 0 || valid.length < this.#compactFrom || source?.startsWith(clientSource) === true) return valid;
		return compactText(valid);
	}

	send(statement: Statement, values: readonly unknown[]): void {
		const sent = this.#connection.run(statement, values);
		// One that fails before `done` is asked is told of then.
		sent.catch(() => undefined);
		this.#sent.push(sent);
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
