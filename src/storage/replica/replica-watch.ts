import { Failure } from '#core/failure.ts';
import type { Log } from '#core/log.ts';
import type { Stoppable, Timers } from '#core/timers.ts';
import type { Connection } from '../connection.ts';
import type { StorageLimits } from '../limits.ts';
import type { StorageMetrics } from '../metrics.ts';
import { Lag } from './lag.ts';
import { answerOf, type Position, type Replayed, replayedOf, replayedStatement } from './position.ts';
import type { PrimaryPositions } from './primary-positions.ts';

/**
 * `current`: it answers reads. `late`: it is further behind than REPLICA_LAG_MS_MAX. `away`: it does not answer. `other`: it is no standby of the
 * primary. Only the first is read from.
 */
export type ReplicaState = 'current' | 'late' | 'away' | 'other';

export interface ReplicaCondition {
	state: ReplicaState;
	lag_ms: number;
	lag_bytes: number;
}

/** The replica and the primary are compared once in this time. */
const compareMs = 1000;
/** Pauses between two questions to a replica on which reads wait. */
const pauseMs = { first: 1, most: 16 };

interface Waiting {
	position: Position;
	done(isThere: boolean): void;
}

export interface ReplicaWatchOptions {
	/** A connection to the replica on which nothing else waits. */
	connection: Pick<Connection, 'runOpened'>;
	positions: PrimaryPositions;
	limits: Pick<StorageLimits, 'replicaWaitMsMax' | 'replicaLagMsMax'>;
	metrics: Pick<StorageMetrics, 'replicaUp' | 'replicaLagSeconds' | 'replicaLagBytes'>;
	log: Log;
	timers: Timers;
}

/** Knows how far the replica is, and whether reads may go there. */
export class ReplicaWatch {
	readonly #options: ReplicaWatchOptions;
	readonly #lag = new Lag();
	readonly #waiting = new Set<Waiting>();
	readonly #attempts = new Set<() => void>();
	#comparing: Stoppable | undefined;
	#state: ReplicaState = 'current';
	#replayed: Position = 0;
	/** The furthest position for which a read waited in vain. */
	#owed: Position = 0;
	#isPolling = false;
	#isComparing = false;

	constructor(options: ReplicaWatchOptions) {
		this.#options = options;
	}

	/** Compares once before it returns, then again and again. */
	async start(): Promise<Stoppable> {
		const { timers } = this.#options;
		await this.compare();
		this.#comparing ??= timers.every(compareMs, () => void this.compare());
		return { stop: () => this.#comparing?.stop() };
	}

	get state(): ReplicaState {
		return this.#state;
	}

	/** The position that the replica was last seen to have replayed. */
	get replayed(): Position {
		return this.#replayed;
	}

	/** True from a wait in vain until the replica has what was waited for. Meanwhile no read waits. */
	get isBehind(): boolean {
		return this.#owed > this.#replayed;
	}

	condition(): ReplicaCondition {
		return { state: this.#state, lag_ms: Math.round(this.#lag.ms(this.#options.timers.elapsedMs())), lag_bytes: this.#lag.bytes };
	}

	/** Takes note of what the replica said beside a read. Returns the position that counts. */
	saw({ position, server }: Replayed): Position {
		// Both URLs may name one server if there is no standby. Any other that is no standby has data of its own.
		if (position === undefined) return server === this.#options.positions.server ? Number.POSITIVE_INFINITY : -1;
		this.#replayed = Math.max(this.#replayed, position);
		return position;
	}

	/** Waits for an answer of the replica. @throws Failure `unavailable` as soon as it is known that the replica does not answer */
	async whileThere<T>(answer: Promise<T>): Promise<T> {
		let giveUp = () => {};
		const given = new Promise<never>((_resolve, reject) => {
			giveUp = () => reject(new Failure('unavailable', 'the replica does not answer', { retryAfterSeconds: 2 }));
		});
		this.#attempts.add(giveUp);
		try {
			return await Promise.race([answer, given]);
		} finally {
			this.#attempts.delete(giveUp);
		}
	}

	/** Waits REPLICA_WAIT_MS_MAX at most until the replica has replayed the position. */
	reaches(position: Position): Promise<boolean> {
		return new Promise((resolve) => {
			const done = (isThere: boolean) => {
				timer.stop();
				this.#waiting.delete(waiting);
				if (!isThere) this.#owed = Math.max(this.#owed, position);
				resolve(isThere);
			};
			const waiting = { position, done };
			const timer = this.#options.timers.after(this.#options.limits.replicaWaitMsMax, () => done(false), true);
			this.#waiting.add(waiting);
			if (!this.#isPolling) void this.#poll();
		});
	}

	async #poll(): Promise<void> {
		const { timers } = this.#options;
		this.#isPolling = true;
		for (let next = pauseMs.first; this.#waiting.size > 0; next = Math.min(2 * next, pauseMs.most)) {
			const replayed = await this.#ask();
			const position = replayed === undefined ? -1 : this.saw(replayed);
			for (const waiting of this.#waiting) if (waiting.position <= position) waiting.done(true);
			if (this.#waiting.size > 0) await new Promise<void>((resolve) => void timers.after(next, resolve, true));
		}
		this.#isPolling = false;
	}

	/** Asks both servers how far they are. Never rejects. */
	async compare(): Promise<void> {
		if (this.#isComparing) return;
		this.#isComparing = true;
		const { positions, timers, limits, metrics } = this.#options;
		// The primary first: what it has by now can only be there later.
		const end = await positions.end();
		const atMs = timers.elapsedMs();
		const replayed = await this.#ask();
		if (replayed !== undefined) {
			const position = this.saw(replayed);
			if (replayed.position !== undefined) this.#replayed = replayed.position;
			this.#lag.note(end, position, atMs);
			this.#become(position < 0 ? 'other' : this.#lag.ms(atMs) > limits.replicaLagMsMax ? 'late' : 'current');
		} else this.#become('away');
		metrics.replicaUp.set(this.#state === 'away' || this.#state === 'other' ? 0 : 1);
		metrics.replicaLagSeconds.set(this.#lag.ms(atMs) / 1000);
		metrics.replicaLagBytes.set(this.#lag.bytes);
		this.#isComparing = false;
	}

	async #ask(): Promise<Replayed | undefined> {
		const { connection, timers } = this.#options;
		// A replica that is away is told of by `#become`, once.
		const rows = await answerOf(connection, replayedStatement, [], timers);
		return rows && replayedOf(rows);
	}

	#become(state: ReplicaState): void {
		if (state === this.#state) return;
		this.#state = state;
		const { log } = this.#options;
		if (state === 'current') log.info('the replica answers reads again');
		else log.warn({ state, lagBytes: this.#lag.bytes }, 'the replica answers no reads; the primary does');
		if (state === 'away') for (const giveUp of this.#attempts) giveUp();
	}
}
