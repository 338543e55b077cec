import { nilId } from '#core/id.ts';
import type { Timers } from '#core/timers.ts';
import type { Connection } from '../connection.ts';
import { plainArray } from '../statement.ts';
import { answerOf, type Position, writtenStatement } from './position.ts';

/** Questions under way at once. Reads that come meanwhile share the next. */
const questionsMax = 2;

interface Question {
	readonly sites: Set<string>;
	readonly answered: Promise<void>;
	finish(): void;
}

/**
 * Knows how far a replica has to be so that a read of a site sees all that any node committed for it before the read began. The primary is asked, once
 * for all reads that begin while an earlier question is under way. Writes ask and tell nothing. A site whose turn nobody has taken since keeps its
 * position, so that the writes of other sites hold up none of its reads.
 */
export class PrimaryPositions {
	readonly #connection: Pick<Connection, 'runOpened'>;
	readonly #timers: Timers;
	readonly #known = new Map<string, { turn: string | null; position: Position }>();
	/** The end of the log when the primary was last asked. */
	#end: Position = 0;
	#server = '';
	#isAway = false;
	#underWay = 0;
	#gathering: Question | undefined;

	constructor(connection: Pick<Connection, 'runOpened'>, timers: Timers) {
		this.#connection = connection;
		this.#timers = timers;
	}

	/** Names the server that answers as primary. */
	get server(): string {
		return this.#server;
	}

	get isAway(): boolean {
		return this.#isAway;
	}

	/**
	 * Returns the position that a read of the sites needs; without sites the end of the log. While the primary is away, nobody can commit, and the position
	 * is what this process knew before. Never rejects.
	 */
	async needed(sites: readonly string[] | undefined): Promise<Position> {
		if (!this.#isAway) {
			const question = this.#joined();
			for (const site of sites ?? []) question.sites.add(site);
			await question.answered;
		}
		if (sites === undefined) return this.#end;
		return Math.max(0, ...sites.map((site) => this.#known.get(site)?.position ?? 0));
	}

	/** Asks how far the log is, and so finds out whether a primary that was away is back. Never rejects. */
	async end(): Promise<Position> {
		await this.#ask([]);
		return this.#end;
	}

	#joined(): Question {
		if (this.#gathering !== undefined) return this.#gathering;
		let finish = () => {};
		const answered = new Promise<void>((resolve) => {
			finish = resolve;
		});
		const question = { sites: new Set<string>(), answered, finish };
		this.#gathering = question;
		if (this.#underWay < questionsMax) queueMicrotask(() => void this.#send(question));
		return question;
	}

	async #send(question: Question): Promise<void> {
		if (this.#gathering === question) this.#gathering = undefined;
		this.#underWay++;
		await this.#ask([...question.sites]);
		this.#underWay--;
		question.finish();
		if (this.#gathering !== undefined) void this.#send(this.#gathering);
	}

	async #ask(sites: readonly string[]): Promise<void> {
		// The nil id is of no site; with it there is always a row.
		const rows = await answerOf(this.#connection, writtenStatement, [plainArray([nilId, ...sites])], this.#timers);
		// The reads go on with what is known; `tributary_database_up` and the log of the access directory tell that the database is away.
		this.#isAway = rows === undefined;
		for (const [end, server, site, turn] of rows ?? []) this.#learn(Number(end), server ?? '', site ?? '', turn ?? null);
	}

	/** Answers of one connection come in order, so a position never goes back while the server is the same. */
	#learn(end: Position, server: string, site: string, turn: string | null): void {
		if (server !== this.#server) {
			// Another server took over. It may lack commits of the last, and count others from the same numbers.
			this.#known.clear();
			this.#server = server;
		}
		this.#end = end;
		if (site === nilId || this.#known.get(site)?.turn === turn) return;
		this.#known.set(site, { turn, position: end });
	}
}
