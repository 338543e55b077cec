import type { Registry } from 'prom-client';
import type { History, Sample } from './expression.ts';

interface Series {
	metric: string;
	labels: Readonly<Record<string, string>>;
	last: number;
}

interface Instant {
	atMs: number;
	/** Values of gauges. */
	values: ReadonlyMap<Series, number>;
	/** The growth of counters and buckets since the previous instant. Metrics that did not grow are left out. */
	grown: ReadonlyMap<Series, number>;
}

/** Keeps the last hour of some metrics of this node, read from the registry that Prometheus scrapes. */
export class MetricHistory implements History {
	readonly #registry: Registry;
	readonly #metrics: readonly string[];
	readonly #keptMs: number;
	readonly #series = new Map<string, Series>();
	readonly #instants: Instant[] = [];

	/** `series` uses the names of expressions; the names of histograms carry their suffix. */
	constructor(registry: Registry, series: Iterable<string>, keptMs: number) {
		this.#registry = registry;
		this.#metrics = [...new Set(series)].map((name) => this.#metricOf(name));
		this.#keptMs = keptMs;
	}

	/** Returns the name in the registry: `x_bucket` belongs to the histogram `x`. */
	#metricOf(series: string): string {
		const found = [series, series.replace(/_(bucket|sum|count)$/, '')].find((name) => this.#registry.getSingleMetric(name) !== undefined);
		if (found === undefined) throw new Error(`there is no metric ${series}`);
		return found;
	}

	/** Records the current values of the metrics, and of gauges that are measured elsewhere. */
	async take(atMs: number, gauges: Readonly<Record<string, number>> = {}): Promise<void> {
		const values = new Map<Series, number>(Object.entries(gauges).map(([name, value]) => [this.#seriesOf(name, {}).series, value]));
		const grown = new Map<Series, number>();
		const isFirst = this.#instants.length === 0;
		for (const metric of this.#metrics) {
			const held = await this.#registry.getSingleMetric(metric)?.get();
			const growths = new Map<Series, number>();
			for (const sample of held?.values ?? []) {
				const name = (sample as { metricName?: string }).metricName ?? metric;
				const { series, isNew } = this.#seriesOf(name, sample.labels);
				if (String(held?.type) === 'gauge') {
					values.set(series, sample.value);
					continue;
				}
				// A new series counts from zero. In the very first reading nothing counts as growth.
				const growth = sample.value - (isNew && isFirst ? sample.value : series.last);
				series.last = sample.value;
				growths.set(series, growth);
			}
			// A quantile also needs the buckets that did not grow.
			const grew = [...growths].filter(([, growth]) => growth > 0);
			for (const [series, growth] of String(held?.type) === 'histogram' && grew.length > 0 ? growths : grew) grown.set(series, growth);
		}
		this.#instants.push({ atMs, values, grown });
		while ((this.#instants[0]?.atMs ?? atMs) < atMs - this.#keptMs) this.#instants.shift();
	}

	#seriesOf(metric: string, labels: Readonly<Record<string, string | number | undefined>>): { series: Series; isNew: boolean } {
		const key = `${metric} ${JSON.stringify(labels)}`;
		const known = this.#series.get(key);
		if (known !== undefined) return { series: known, isNew: false };
		const texts = Object.fromEntries(Object.entries(labels).map(([label, value]) => [label, String(value)]));
		const series = { metric, labels: texts, last: 0 };
		this.#series.set(key, series);
		return { series, isNew: true };
	}

	values(metric: string): Sample[] {
		const values = this.#instants.at(-1)?.values ?? new Map<Series, number>();
		return [...values].filter(([series]) => series.metric === metric).map(([{ labels }, value]) => ({ labels, value }));
	}

	increases(metric: string, windowMs: number): Sample[] {
		const sums = new Map<Series, number>();
		for (const { grown } of this.#within(windowMs)) {
			for (const [series, growth] of grown) if (series.metric === metric) sums.set(series, (sums.get(series) ?? 0) + growth);
		}
		return [...sums].map(([{ labels }, value]) => ({ labels, value }));
	}

	minima(metric: string, windowMs: number): Sample[] {
		const minima = new Map<Series, number>();
		for (const { values } of this.#within(windowMs)) {
			for (const [series, value] of values)
				if (series.metric === metric) minima.set(series, Math.min(minima.get(series) ?? Number.POSITIVE_INFINITY, value));
		}
		return [...minima].map(([{ labels }, value]) => ({ labels, value }));
	}

	#within(windowMs: number): Instant[] {
		const sinceMs = (this.#instants.at(-1)?.atMs ?? 0) - windowMs;
		return this.#instants.filter(({ atMs }) => atMs > sinceMs);
	}
}
