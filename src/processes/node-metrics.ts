import { isCounted, labelledBy, type MetricSnapshot, mergedSnapshots } from '#core/metric-snapshot.ts';

/**
 * The metrics of a node over the lives of its processes. What an ended process counted stays counted: a counter that fell would look like a
 * restart of the node, and like as many events as the others have counted. What a killed process counted since it was last asked is lost.
 */
export class NodeMetrics {
	/** The metrics as they were last told, by process, then by metric. */
	readonly #told = new Map<object, Map<string, MetricSnapshot>>();
	#ended = new Map<string, MetricSnapshot>();

	/** Takes over what a process has measured. @param process its place, for the label of what stays apart */
	note(member: object, process: string, metrics: readonly MetricSnapshot[]): void {
		const told = this.#told.get(member) ?? new Map<string, MetricSnapshot>();
		for (const metric of labelledBy(process, metrics)) told.set(metric.name, metric);
		this.#told.set(member, told);
	}

	end(member: object): void {
		const counted = [...(this.#told.get(member)?.values() ?? [])].filter((metric) => isCounted(metric) && metric.across !== 'process');
		this.#told.delete(member);
		this.#ended = new Map(mergedSnapshots([[...this.#ended.values()], counted]).map((metric) => [metric.name, metric]));
	}

	/** Returns the metrics of the node as last told; those of `names` if names are given. */
	all(names?: readonly string[]): MetricSnapshot[] {
		const of = (metrics: ReadonlyMap<string, MetricSnapshot>) =>
			names === undefined ? [...metrics.values()] : names.flatMap((name) => metrics.get(name) ?? []);
		return mergedSnapshots([...[...this.#told.values()].map(of), of(this.#ended)]);
	}
}
