import { Failure } from '#core/failure.ts';
import type { Connection } from './connection.ts';
import { troubleOf } from './sqlstate.ts';
import type { Statement } from './statement.ts';
import { deleteExpiredSearches } from './statements/administrative/long-searches.ts';
import { keepLongSearch, readLongSearch } from './statements/long-search.ts';

/** A search of a site. The id follows from type and parameters. */
export interface LongSearch {
	siteId: string;
	/** UUID. */
	id: string;
	type: string;
	parameters: string;
}

/** Advice to a client. One that comes earlier is not refused for it. */
const retryAfterSeconds = 5;

/**
 * The searches that are too long for links. They are written to and read from the primary, since the next page may be asked for at once, and on
 * another node.
 */
export class LongSearchTable {
	readonly #connection: Connection;

	constructor(connection: Connection) {
		this.#connection = connection;
	}

	/** @throws Failure `unavailable` */
	async keep({ siteId, id, type, parameters }: LongSearch, { searchesMax, msMax }: { searchesMax: number; msMax: number }): Promise<void> {
		await this.#run(keepLongSearch, [siteId, id, type, parameters, msMax / 1000, searchesMax - 1]);
	}

	/** Returns the parameters, or undefined if no such search of the site is kept. @throws Failure `unavailable` */
	async read({ siteId, id, type }: Omit<LongSearch, 'parameters'>): Promise<string | undefined> {
		const [row] = await this.#run(readLongSearch, [siteId, id, type]);
		return row?.[0] ?? undefined;
	}

	async deleteExpired(): Promise<void> {
		await this.#run(deleteExpiredSearches, []);
	}

	async #run(statement: Statement, values: readonly unknown[]): Promise<(string | null)[][]> {
		try {
			return (await this.#connection.runOpened(statement, values)) as (string | null)[][];
		} catch (cause) {
			const isAway = cause instanceof Failure || ['connection', 'repeat'].includes(troubleOf(cause));
			throw isAway ? new Failure('unavailable', 'the database does not answer', { cause, retryAfterSeconds }) : cause;
		}
	}
}
