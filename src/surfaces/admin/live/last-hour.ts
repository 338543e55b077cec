import type { LastHour } from '#administration/overview.ts';
import type { Clock } from '#core/clock.ts';
import type { Log } from '#core/log.ts';
import type { StatementRunner } from '#storage/connection.ts';
import { feedsSince, listMinutes } from '#storage/statements/administrative/read-feeds.ts';

const minuteMs = 60_000;
const minutesShown = 60;
/** A reading that is not older than this is shown again. Processes write their figures as often. */
const freshMs = 5000;

interface StoredHourOptions {
	database: StatementRunner;
	clock: Clock;
	log: Log;
	/** A clock that is never set back, for how old a reading is. */
	elapsedMs?: () => number;
}

interface Minute {
	/** Undefined for traffic of no site. */
	site: string | undefined;
	atMs: number;
	received: number;
	refused: number;
}

/**
 * The messages of the last hour, as all processes of all nodes have written them, so they outlive each process. They are read when somebody looks.
 */
export class StoredHour {
	readonly #options: StoredHourOptions;
	readonly #elapsedMs: () => number;
	#minutes: readonly Minute[] | undefined;
	/** The record begins here; undefined while there is none. */
	#beginMs: number | undefined;
	#readAtMs = Number.NEGATIVE_INFINITY;
	#reading: Promise<void> | undefined;

	constructor(options: StoredHourOptions) {
		this.#options = options;
		this.#elapsedMs = options.elapsedMs ?? (() => performance.now());
	}

	/** Reads anew unless that was done a moment ago. Never rejects: while the database is away the last reading is shown. */
	refresh(): Promise<void> {
		const nowMs = this.#elapsedMs();
		if (nowMs - this.#readAtMs < freshMs) return this.#reading ?? Promise.resolve();
		this.#readAtMs = nowMs;
		this.#reading = this.#read().finally(() => {
			this.#reading = undefined;
		});
		return this.#reading;
	}

	async #read(): Promise<void> {
		const { database, log } = this.#options;
		try {
			const from = new Date(this.#fromMs()).toISOString();
			const [rows, [begin]] = await Promise.all([database.run(listMinutes, [null, true, from]), database.run(feedsSince, [null, true])]);
			this.#minutes = rows.map(([site, at, received, refused]) => ({
				site: site ?? undefined,
				atMs: Number(at),
				received: Number(received),
				refused: Number(refused),
			}));
			this.#beginMs = begin?.[1] ? Number(begin[1]) : undefined;
		} catch (error) {
			log.debug({ err: error }, 'the figures of the last hour could not be read');
		}
	}

	/** The beginning of the minute in which the hour began. */
	#fromMs(): number {
		return (Math.floor(this.#options.clock.nowMs() / minuteMs) - minutesShown + 1) * minuteMs;
	}

	/** Returns null while nothing was read. */
	of(viewed: 'all' | readonly string[]): LastHour | null {
		if (this.#minutes === undefined) return null;
		const fromMs = this.#fromMs();
		const minutes = Array.from({ length: minutesShown }, (_, index) => ({ atMs: fromMs + index * minuteMs, received: 0, refused: 0 }));
		for (const { site, atMs, received, refused } of this.#minutes) {
			const minute = minutes[(atMs - fromMs) / minuteMs];
			if (minute === undefined || (viewed !== 'all' && (site === undefined || !viewed.includes(site)))) continue;
			minute.received += received;
			minute.refused += refused;
		}
		const sum = (of: (minute: (typeof minutes)[number]) => number) => minutes.reduce((total, minute) => total + of(minute), 0);
		return {
			since: new Date(Math.max(fromMs, this.#beginMs ?? fromMs)).toISOString(),
			received: sum(({ received }) => received),
			refused: sum(({ refused }) => refused),
			minutes: minutes.map(({ atMs, received, refused }) => ({ at: new Date(atMs).toISOString(), received, refused })),
		};
	}
}
