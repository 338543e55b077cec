import type { MetricDefinitions, MetricsOf } from '#core/metric-definition.ts';

/** Instances on their way into the index. */
export const imagingMetricDefinitions = {
	indexedInstances: {
		name: 'tributary_indexed_instances_total',
		kind: 'counter',
		help: 'Instances that the index was asked to take, by outcome; quarantined, replaced and refused ones had other content.',
		labels: { outcome: ['stored', 'duplicate', 'quarantined', 'replaced', 'refused'] },
	},
} as const satisfies MetricDefinitions;

export type ImagingMetrics = MetricsOf<typeof imagingMetricDefinitions>;
