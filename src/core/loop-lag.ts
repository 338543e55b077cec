import { createHistogram, performance, type RecordableHistogram } from 'node:perf_hooks';
import { type Stoppable, strokeAt, strokeMs, strokes } from './strokes.ts';

/**
 * The time between two looks while the loop has something to do. Node's own monitor looks a hundred times a second, which alone takes more processor
 * time than all else that an idle service does.
 */
const everyMs = 100;
/** A loop that was active for a smaller share of the time is idle: between two strokes nothing can have held it up for longer than 25 ms. */
const idleShare = 0.05;

/** The range is 1 ns to an hour, in steps of a hundredth. */
const range = { lowest: 1, highest: 3_600_000_000_000, figures: 2 };

/** Lags since they were read last, in seconds. All are 0 if nothing was measured. */
export interface LoopLags {
	min: number;
	max: number;
	mean: number;
	stddev: number;
	p50: number;
	p90: number;
	p99: number;
}

/** Says how long the loop was active and idle since it began, and how often it went round. */
interface Done {
	activeMs: number;
	idleMs: number;
	rounds: number;
}

const nothing: Done = { activeMs: 0, idleMs: 0, rounds: 0 };

function done(): Done {
	const { active, idle } = performance.eventLoopUtilization();
	return { activeMs: active, idleMs: idle, rounds: performance.nodeTiming.uvMetricsInfo.loopCount };
}

function between(from: Done, to: Done): Done {
	return { activeMs: to.activeMs - from.activeMs, idleMs: to.idleMs - from.idleMs, rounds: to.rounds - from.rounds };
}

/**
 * Measures how much later than it should the event loop of this thread runs what is due, as a timer finds it. An idle loop is looked at on the strokes
 * alone. What holds it up between two strokes shows in the time that it was active.
 */
class LoopLag {
	readonly #readers = new Set<RecordableHistogram>();
	#next: Stoppable | undefined;
	#before = nothing;
	/** An idle loop does so much between two strokes. */
	#usual = nothing;

	/** Begins to measure for a reader. Each reader has its own lags. */
	follow(): LoopLagReader {
		const histogram = createHistogram(range);
		this.#readers.add(histogram);
		if (this.#next === undefined) this.#begin();
		return {
			read: () => {
				const lags = lagsOf(histogram);
				histogram.reset();
				return lags;
			},
			end: () => {
				this.#readers.delete(histogram);
				if (this.#readers.size > 0) return;
				this.#next?.stop();
				this.#next = undefined;
			},
		};
	}

	#begin(): void {
		this.#before = done();
		this.#lookSoon();
	}

	#lookSoon(): void {
		const dueMs = performance.now() + everyMs;
		const timer = setTimeout(() => this.#look(performance.now() - dueMs, false), everyMs).unref();
		this.#next = { stop: () => clearTimeout(timer) };
	}

	#lookOnStroke(): void {
		const dueMs = strokeAt(strokeMs, performance.now()) * strokeMs;
		this.#next = strokes.once(strokeMs, () => this.#look(performance.now() - dueMs, true));
	}

	#look(lateMs: number, wasIdle: boolean): void {
		const now = done();
		const since = between(this.#before, now);
		this.#before = now;
		const isIdle = since.activeMs < idleShare * (since.activeMs + since.idleMs);
		this.#record(wasIdle && !isIdle ? Math.max(lateMs, heldUpMs(since, this.#usual)) : lateMs);
		if (wasIdle && isIdle) this.#usual = since;
		if (isIdle) this.#lookOnStroke();
		else this.#lookSoon();
	}

	#record(ms: number): void {
		const lag = Math.min(range.highest, Math.max(range.lowest, Math.round(ms * 1e6)));
		for (const histogram of this.#readers) histogram.record(lag);
	}
}

/** Returns for how long each round that was not a usual one held the loop up, so that a single one is seen and many short ones are not taken for it. */
export function heldUpMs(since: Done, usual: Done): number {
	return (since.activeMs - usual.activeMs) / Math.max(1, since.rounds - usual.rounds);
}

export interface LoopLagReader {
	/** Returns the lags since the last call. */
	read(): LoopLags;
	/** Ends measuring for this reader. */
	end(): void;
}

function lagsOf(histogram: RecordableHistogram): LoopLags {
	if (histogram.count === 0) return { min: 0, max: 0, mean: 0, stddev: 0, p50: 0, p90: 0, p99: 0 };
	const { min, max, mean, stddev } = histogram;
	const [p50, p90, p99] = [histogram.percentile(50), histogram.percentile(90), histogram.percentile(99)];
	return { min: min / 1e9, max: max / 1e9, mean: mean / 1e9, stddev: stddev / 1e9, p50: p50 / 1e9, p90: p90 / 1e9, p99: p99 / 1e9 };
}

/** The lag of this thread's event loop: there is one loop, and one timer for all readers. */
export const loopLag = new LoopLag();
