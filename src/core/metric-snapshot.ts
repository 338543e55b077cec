import { type Metric, Registry } from 'prom-client';

/**
 * Says how the values of the processes of a node become one. `process`: they stay apart, by a label `process`. Counters and histograms are always
 * summed, unless they stay apart.
 */
export type Across = 'sum' | 'max' | 'min' | 'process';

export interface MetricValue {
	value: number;
	labels: Readonly<Record<string, string | number>>;
	/** The series of a histogram: `x_bucket`, `x_sum`, `x_count`. */
	metricName?: string;
}

/** A metric of a process, or of a node, at one instant. */
export interface MetricSnapshot {
	name: string;
	help: string;
	type: string;
	values: readonly MetricValue[];
	across: Across;
}

/** Returns the metrics of a registry; those of `names` if names are given. */
export async function snapshotOf(
	registry: Registry,
	acrossOf: (name: string) => Across,
	names?: readonly string[],
): Promise<MetricSnapshot[]> {
	const held = names === undefined ? registry.getMetricsAsArray() : names.map((name) => registry.getSingleMetric(name));
	const metrics = await Promise.all(held.map((metric) => (metric as Metric | undefined)?.get()));
	return metrics.flatMap((metric) => {
		if (metric === undefined) return [];
		const { name, help, type, values } = metric;
		// prom-client calls the type a number, and it is a text.
		return [{ name, help, type: String(type), values: values as MetricValue[], across: acrossOf(name) }];
	});
}

export function isCounted({ type }: Pick<MetricSnapshot, 'type'>): boolean {
	return type === 'counter' || type === 'histogram';
}

function keyOf({ metricName = '', labels }: MetricValue): string {
	return `${metricName} ${Object.entries(labels)
		.map(([label, value]) => `${label}=${value}`)
		.sort()
		.join(',')}`;
}

const merging: Readonly<Record<Exclude<Across, 'process'>, (left: number, right: number) => number>> = {
	sum: (left, right) => left + right,
	max: Math.max,
	min: Math.min,
};

/** Returns the values of both. They are of the same metric. */
function merged(left: MetricSnapshot, right: MetricSnapshot): MetricSnapshot {
	const merge = merging[isCounted(left) || left.across === 'process' ? 'sum' : left.across];
	const values = new Map(left.values.map((value) => [keyOf(value), value]));
	for (const value of right.values) {
		const key = keyOf(value);
		const held = values.get(key);
		values.set(key, held === undefined ? value : { ...held, value: merge(held.value, value.value) });
	}
	return { ...left, values: [...values.values()] };
}

/** Returns the metrics of a node from those of its processes. */
export function mergedSnapshots(ofProcesses: Iterable<readonly MetricSnapshot[]>): MetricSnapshot[] {
	const byName = new Map<string, MetricSnapshot>();
	for (const metrics of ofProcesses) {
		for (const metric of metrics) {
			const held = byName.get(metric.name);
			byName.set(metric.name, held === undefined ? metric : merged(held, metric));
		}
	}
	return [...byName.values()];
}

/** Labels with the process what stays apart. */
export function labelledBy(process: string, metrics: readonly MetricSnapshot[]): MetricSnapshot[] {
	return metrics.map((metric) =>
		metric.across === 'process'
			? { ...metric, values: metric.values.map((value) => ({ ...value, labels: { ...value.labels, process } })) }
			: metric,
	);
}

/** Renders metrics as Prometheus text. */
export async function renderedSnapshots(metrics: readonly MetricSnapshot[]): Promise<string> {
	const registry = new Registry();
	// A registry asks its metrics for nothing but this.
	for (const metric of metrics) registry.registerMetric({ name: metric.name, get: () => Promise.resolve(metric) } as unknown as Metric);
	return registry.metrics();
}
