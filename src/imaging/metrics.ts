import type { MetricDefinitions, MetricsOf } from '#core/metric-definition.ts';

/** Instances on their way into the index. */
export const imagingMetricDefinitions = {
	indexedInstances: {
		name: 'tributary_indexed_instances_total',
		kind: 'counter',
		help: 'Instances offered to the index, by outcome. Quarantined, replaced and refused instances had different content; those set aside or split off name another patient than their study.',
		labels: { outcome: ['stored', 'duplicate', 'quarantined', 'replaced', 'refused', 'aside', 'split'] },
	},
} as const satisfies MetricDefinitions;

export type ImagingMetrics = MetricsOf<typeof imagingMetricDefinitions>;
