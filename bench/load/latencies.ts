import { build, type Histogram } from 'hdr-histogram-js';

/** Times of answers in microseconds, up to an hour, to three digits: a million of them take as little room as ten. */
export class Latencies {
	readonly #histogram: Histogram = build({
		lowestDiscernibleValue: 1,
		highestTrackableValue: 3_600_000_000,
		numberOfSignificantValueDigits: 3,
	});

	/** A time that the clock gives as 0 counts as one microsecond. */
	record(ms: number): void {
		this.#histogram.recordValue(Math.min(Math.max(1, Math.round(ms * 1000)), 3_600_000_000));
	}

	get count(): number {
		return this.#histogram.totalCount;
	}

	/** The value is in milliseconds. It is NaN when nothing was answered. */
	percentile(percent: number): number {
		return this.count === 0 ? Number.NaN : this.#histogram.getValueAtPercentile(percent) / 1000;
	}

	get maxMs(): number {
		return this.count === 0 ? Number.NaN : this.#histogram.maxValue / 1000;
	}
}
