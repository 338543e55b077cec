import { Counter, Gauge, Histogram, type Registry } from 'prom-client';
import type { Across } from './metric-snapshot.ts';

/** A label whose values are not listed here but cannot grow without bound; the text says what bounds them. */
export interface BoundedLabel {
	readonly boundedBy: string;
}
export type LabelDomain = readonly string[] | BoundedLabel;

/** A room declares its metrics in its `metrics.ts`; `src/metrics.ts` collects them. */
export interface MetricDefinition {
	/** The name ends in the unit: `_seconds`, `_bytes`, `_messages`; counters end in `_total`. */
	name: string;
	kind: 'counter' | 'gauge' | 'histogram';
	help: string;
	labels: Readonly<Record<string, LabelDomain>>;
	buckets?: readonly number[];
	/** Says how gauges of the processes of a node become one. Without it they are summed. */
	across?: Exclude<Across, 'process'>;
}

export type MetricDefinitions = Readonly<Record<string, MetricDefinition>>;

/** Buckets that reach from a commit on a fast disk to the time after which a sender gives up. */
export const latencySeconds = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30];

type ValueOf<Domain> = Domain extends readonly (infer Value)[] ? Value : string;
type LabelsOf<D extends MetricDefinition> = { [L in keyof D['labels']]: ValueOf<D['labels'][L]> };

interface Plain {
	counter: { inc(value?: number): void };
	gauge: { set(value: number): void; inc(value?: number): void; dec(value?: number): void };
	histogram: { observe(value: number): void };
}
interface Labelled<L> {
	counter: { inc(labels: L, value?: number): void };
	gauge: {
		set(labels: L, value: number): void;
		inc(labels: L, value?: number): void;
		dec(labels: L, value?: number): void;
		/** Forgets every series. */
		reset(): void;
	};
	histogram: { observe(labels: L, value: number): void };
}
/** A handle of a metric. With labels, `labels(…)` binds them once for a hot path. */
export type Handle<D extends MetricDefinition> = keyof D['labels'] extends never
	? Plain[D['kind']]
	: Labelled<LabelsOf<D>>[D['kind']] & { labels(labels: LabelsOf<D>): Plain[D['kind']] };

export type MetricsOf<D extends MetricDefinitions> = { readonly [N in keyof D]: Handle<D[N]> };

type KnownLabels = Readonly<Record<string, string>>;

/** Returns every label set of a metric: of labels whose values are listed, and of those whose value is `known`. None if another one is bounded only. */
export function labelSetsOf({ labels }: MetricDefinition, known: KnownLabels = {}): Record<string, string>[] {
	let sets: Record<string, string>[] = [{}];
	for (const [label, domain] of Object.entries(labels)) {
		const stated = known[label];
		const values = !('boundedBy' in domain) ? domain : stated === undefined ? [] : [stated];
		sets = sets.flatMap((set) => values.map((value) => ({ ...set, [label]: value })));
	}
	return sets;
}

/** Counters and histograms begin with 0. If a series began with its first event, whoever watches it would not see that it has grown. */
function register(registry: Registry, definition: MetricDefinition): unknown {
	const { name, help, kind, buckets } = definition;
	const options = { name, help, labelNames: Object.keys(definition.labels), registers: [registry] };
	if (kind === 'gauge') return new Gauge(options);
	if (kind === 'histogram') {
		const histogram = new Histogram({ ...options, ...(buckets === undefined ? {} : { buckets: [...buckets] }) });
		for (const labels of labelSetsOf(definition)) histogram.zero(labels);
		return histogram;
	}
	const counter = new Counter(options);
	for (const labels of labelSetsOf(definition)) counter.inc(labels, 0);
	return counter;
}

/** Has the counters begin with 0 whose label sets are known only now, such as those of a site. */
export function beginCounters(registry: Registry, definitions: MetricDefinitions, known: KnownLabels): void {
	for (const definition of Object.values(definitions)) {
		const counter = registry.getSingleMetric(definition.name);
		if (!(counter instanceof Counter) || !Object.keys(known).every((label) => label in definition.labels)) continue;
		for (const labels of labelSetsOf(definition, known)) counter.inc(labels, 0);
	}
}

export function handlesOn<D extends MetricDefinitions>(registry: Registry, definitions: D): MetricsOf<D> {
	return Object.fromEntries(
		Object.entries(definitions).map(([name, definition]) => [name, register(registry, definition)]),
	) as MetricsOf<D>;
}
