import { createHistogram, type RecordableHistogram } from 'node:perf_hooks';

/**
 * The time between two looks. Node's own monitor looks a hundred times a second, which alone takes more processor time than all else that an idle
 * service does.
 */
const everyMs = 100;

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

/** Measures how much later than it should the event loop of this thread runs what is due, as a timer finds it. */
class LoopLag {
	readonly #readers = new Set<RecordableHistogram>();
	#timer: NodeJS.Timeout | undefined;
	#dueMs = 0;

	/** Begins to measure for a reader. Each reader has its own lags. */
	follow(): LoopLagReader {
		const histogram = createHistogram(range);
		this.#readers.add(histogram);
		if (this.#timer === undefined) this.#wait();
		return {
			read: () => {
				const lags = lagsOf(histogram);
				histogram.reset();
				return lags;
			},
			end: () => {
				this.#readers.delete(histogram);
				if (this.#readers.size > 0) return;
				clearTimeout(this.#timer);
				this.#timer = undefined;
			},
		};
	}

	#wait(): void {
		this.#dueMs = performance.now() + everyMs;
		this.#timer = setTimeout(() => {
			const lag = Math.min(range.highest, Math.max(range.lowest, Math.round((performance.now() - this.#dueMs) * 1e6)));
			for (const histogram of this.#readers) histogram.record(lag);
			this.#wait();
		}, everyMs).unref();
	}
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
