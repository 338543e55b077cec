import type { Log } from '#core/log.ts';
import { type Stoppable, systemTimers } from '#core/timers.ts';
import type { IndexedType } from '#record/search-entry.ts';
import type { Connection } from './connection.ts';
import { type ColumnValues, type Statement, textArray } from './statement.ts';
import { beginTypes, digestOf, findWaiting, readTurns, takeIn } from './statements/search-entries.ts';

/** A step reads so many resources: some 50 ms of the database. */
const rowsMax = 500;
/** A round looks for sites that were written to. What no round has taken in yet is read by searches themselves. */
const roundMs = 2000;
/** The clocks of nodes differ by less. */
const clocks = '10 seconds';
/**
 * After each step the database rests for so many times as long as it took. While more deliveries a second arrive than `busyPerSecond`, it
 * nearly always rests: deliveries hardly wait for the index. But each search, and each conditional create, reads what is not in it. Where
 * `behindSteps` steps did not reach the end, that costs more than to take it in, whatever the load. Where `farSteps` did not, a conditional create
 * keeps its site waiting for longer than a step takes, so the database hardly rests.
 */
const rests = { calm: 4, busy: 99, behind: 1, far: 0.1 } as const;
const busyPerSecond = 500;
const behindSteps = 8;
const farSteps = 40;
/** After so many steps the other sites have their turn. */
const visitSteps = 20;

/** @param fullSteps steps one after the other that took in as many rows as they may */
export function restAfter(tookMs: number, { isBusy, fullSteps }: { isBusy: boolean; fullSteps: number }): number {
	if (fullSteps >= behindSteps) return tookMs * (fullSteps >= farSteps ? rests.far : rests.behind);
	return tookMs * (isBusy ? rests.busy : rests.calm);
}

interface SearchIndexOptions {
	connection: Pick<Connection, 'runOpened'>;
	types: readonly IndexedType[];
	/** By how much the clocks of nodes may differ, as PostgreSQL writes an interval. */
	apart?: string;
	/** Rests between steps are so many times as long. */
	pace?: number;
}

interface Turns {
	until: string;
	untilMs: number;
	nowMs: number;
	ofSites: Readonly<Record<string, string>>;
}

/** Fills the index of elements, behind the writes of all nodes. Every node does; two never take in the same type of a site at once. */
export class SearchIndex {
	readonly #options: SearchIndexOptions;
	readonly #types: ReadonlyMap<string, IndexedType>;
	readonly #steps = new Map<string, Statement>();
	readonly #begin: readonly ColumnValues[];
	readonly #waiting;
	/** The turn of each site when it was last looked at, and when that was first seen; `isDone` if everything up to it is taken in. */
	readonly #seen = new Map<string, { turn: string; atMs: number; isDone: boolean }>();
	/** The full steps, one after the other, of a site and type. */
	readonly #full = new Map<string, number>();
	#before: { sum: bigint; atMs: number } | undefined;
	#isBusy = false;
	#isClosed = false;

	constructor(options: SearchIndexOptions) {
		const { types } = options;
		this.#options = options;
		this.#types = new Map(types.map((type) => [type.type, type]));
		this.#begin = [textArray(types.map(({ type }) => type)), textArray(types.map(digestOf))];
		this.#waiting = findWaiting(types);
	}

	/** Takes in what was written until shortly before. Returns false where something remains. */
	async round(): Promise<boolean> {
		const turns = await this.#turns();
		this.#notePace(turns);
		let isComplete = true;
		for (const [siteId, turn] of Object.entries(turns.ofSites)) {
			if (this.#isClosed) return false;
			const seen = this.#seen.get(siteId);
			const state = seen?.turn === turn ? seen : { turn, atMs: turns.nowMs, isDone: false };
			this.#seen.set(siteId, state);
			if (state.isDone) continue;
			const isEmpty = await this.#takeInSite(siteId, turns.until);
			state.isDone = isEmpty && turns.untilMs > state.atMs;
			isComplete &&= isEmpty;
		}
		return isComplete;
	}

	/** Ends a round after the step under way. */
	close(): void {
		this.#isClosed = true;
	}

	async #turns(): Promise<Turns> {
		const [row] = await this.#options.connection.runOpened(readTurns, [this.#options.apart ?? clocks]);
		const [until, untilMs, nowMs, ofSites] = row ?? [];
		return { until: until ?? '-infinity', untilMs: Number(untilMs), nowMs: Number(nowMs), ofSites: JSON.parse(ofSites ?? '{}') };
	}

	/** Returns true where nothing waited. */
	async #takeInSite(siteId: string, until: string): Promise<boolean> {
		const { connection } = this.#options;
		await connection.runOpened(beginTypes, [siteId, ...this.#begin]);
		const waiting = await connection.runOpened(this.#waiting, [siteId, until]);
		for (const [name] of waiting) {
			const step = this.#stepOf(name ?? '');
			if (step === undefined) continue;
			const key = `${siteId} ${name}`;
			for (let steps = 0, isFull = true; isFull && steps < visitSteps && !this.#isClosed; steps++) {
				const startedMs = performance.now();
				const [row] = await connection.runOpened(step, [siteId, until]);
				isFull = Number(row?.[0]) === rowsMax;
				const fullSteps = isFull ? (this.#full.get(key) ?? 0) + 1 : 0;
				if (isFull) this.#full.set(key, fullSteps);
				else this.#full.delete(key);
				await this.#rest(performance.now() - startedMs, fullSteps);
			}
		}
		return waiting.length === 0;
	}

	/** The statement of a type is long, and is put together when the type is first met. */
	#stepOf(name: string): Statement | undefined {
		const held = this.#steps.get(name);
		const type = this.#types.get(name);
		if (held !== undefined || type === undefined) return held;
		const step = takeIn(type, rowsMax);
		this.#steps.set(name, step);
		return step;
	}

	#notePace({ ofSites, nowMs }: Turns): void {
		const sum = Object.values(ofSites).reduce((total, turn) => total + BigInt(turn), 0n);
		const before = this.#before;
		this.#before = { sum, atMs: nowMs };
		if (before === undefined) return;
		this.#isBusy = (Number(sum - before.sum) * 1000) / Math.max(1, nowMs - before.atMs) > busyPerSecond;
	}

	async #rest(tookMs: number, fullSteps: number): Promise<void> {
		const ms = restAfter(tookMs, { isBusy: this.#isBusy, fullSteps }) * (this.#options.pace ?? 1);
		if (ms > 0) await new Promise((resolve) => setTimeout(resolve, ms));
	}
}

/** Fills the index for as long as the node runs. A failure loses nothing: searches read what is not in the index, and it is tried again. */
export function keepSearchIndex({ log, ...options }: SearchIndexOptions & { log: Log }): { close(): Promise<void> } {
	const index = new SearchIndex(options);
	let timer: Stoppable | undefined;
	let isClosed = false;
	let hasFailed = false;
	let last = Promise.resolve();
	const round = () => {
		last = index
			.round()
			.then(
				() => {
					hasFailed = false;
				},
				(error: unknown) => {
					if (!hasFailed && !isClosed) log.warn({ err: error }, 'the index of elements could not be filled; tried again');
					hasFailed = true;
				},
			)
			.then(next);
	};
	const next = () => {
		if (!isClosed) timer = systemTimers.about(roundMs, round);
	};
	next();
	return {
		async close() {
			isClosed = true;
			index.close();
			timer?.stop();
			await last;
		},
	};
}
