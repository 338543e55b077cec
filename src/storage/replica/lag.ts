import type { Position } from './position.ts';

/** Ends of the log that are kept while a replica is behind them, one a second. */
const endsMax = 3600;

/**
 * Measures how old the newest thing is that a replica lacks. PostgreSQL itself tells only the age of the last transaction that was replayed, which
 * grows while nothing is written.
 */
export class Lag {
	/** Ends of the primary's log that the replica had not replayed, the oldest first. */
	#missing: { end: Position; atMs: number }[] = [];
	#bytes = 0;

	/** Takes note that the primary's log ended at `end` when the replica had replayed `replayed`. */
	note(end: Position, replayed: Position, atMs: number): void {
		this.#bytes = Number.isFinite(replayed) ? Math.max(0, end - replayed) : 0;
		if (end > replayed) this.#missing.push({ end, atMs });
		this.#missing = this.#missing.filter((each) => each.end > replayed);
		// The oldest says how long it has been; those in between only say how it becomes less.
		if (this.#missing.length > endsMax) this.#missing.splice(1, 1);
	}

	get bytes(): number {
		return this.#bytes;
	}

	ms(nowMs: number): number {
		const [oldest] = this.#missing;
		return oldest === undefined ? 0 : Math.max(0, nowMs - oldest.atMs);
	}
}
