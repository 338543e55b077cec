import type { Registry } from 'prom-client';
import type { MetricSnapshot } from '#core/metric-snapshot.ts';
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

/** The instants refer to the very series of the map. A copy of both together keeps that. */
export interface KeptHistory {
	series: ReadonlyMap<string, Series>;
	instants: readonly Instant[];
}

/** Keeps the last hour of some metrics of this node, read from the registry that Prometheus scrapes. */
export class MetricHistory implements History {
	/** The metrics that are recorded. */
	readonly metrics: readonly string[];
	readonly #registry: Registry;
	readonly #keptMs: number;
	#series = new Map<string, Series>();
	#instants: Instant[] = [];

	/** `series` uses the names of expressions; the names of histograms carry their suffix. */
	constructor(registry: Registry, series: Iterable<string>, keptMs: number) {
		this.#registry = registry;
		this.metrics = [...new Set(series)].map((name) => this.#metricOf(name));
		this.#keptMs = keptMs;
	}

	/** Returns the name in the registry: `x_bucket` belongs to the histogram `x`. */
	#metricOf(series: string): string {
		const found = [series, series.replace(/_(bucket|sum|count)$/, '')].find((name) => this.#registry.getSingleMetric(name) !== undefined);
		if (found === undefined) throw new Error(`there is no metric ${series}`);
		return found;
	}

	/** Records the values of the metrics. */
	take(atMs: number, metrics: Iterable<MetricSnapshot>): void {
		const values = new Map<Series, number>();
		const grown = new Map<Series, number>();
		const isFirst = this.#instants.length === 0;
		for (const { name: metric, type, values: samples } of metrics) {
			const growths = new Map<Series, number>();
			for (const sample of samples) {
				const { series, isNew } = this.#seriesOf(sample.metricName ?? metric, sample.labels);
				if (type === 'gauge') {
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
			for (const [series, growth] of type === 'histogram' && grew.length > 0 ? growths : grew) grown.set(series, growth);
		}
		this.#instants.push({ atMs, values, grown });
		while ((this.#instants[0]?.atMs ?? atMs) < atMs - this.#keptMs) this.#instants.shift();
	}

	/** Everything that is recorded, for another process of the node. */
	kept(): KeptHistory {
		return { series: this.#series, instants: this.#instants };
	}

	/** Goes on where another process of the node is. */
	adopt({ series, instants }: KeptHistory): void {
		this.#series = new Map(series);
		this.#instants = [...instants];
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
