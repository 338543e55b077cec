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
	gauge: { set(labels: L, value: number): void; inc(labels: L, value?: number): void; dec(labels: L, value?: number): void };
	histogram: { observe(labels: L, value: number): void };
}
/** A handle of a metric. With labels, `labels(…)` binds them once for a hot path. */
export type Handle<D extends MetricDefinition> = keyof D['labels'] extends never
	? Plain[D['kind']]
	: Labelled<LabelsOf<D>>[D['kind']] & { labels(labels: LabelsOf<D>): Plain[D['kind']] };

export type MetricsOf<D extends MetricDefinitions> = { readonly [N in keyof D]: Handle<D[N]> };

const constructors = { counter: Counter, gauge: Gauge, histogram: Histogram };

function register(registry: Registry, definition: MetricDefinition): unknown {
	return new constructors[definition.kind]({
		name: definition.name,
		help: definition.help,
		labelNames: Object.keys(definition.labels),
		registers: [registry],
		...(definition.buckets === undefined ? {} : { buckets: [...definition.buckets] }),
	});
}

export function handlesOn<D extends MetricDefinitions>(registry: Registry, definitions: D): MetricsOf<D> {
	return Object.fromEntries(
		Object.entries(definitions).map(([name, definition]) => [name, register(registry, definition)]),
	) as MetricsOf<D>;
}
