import type { MetricDefinitions, MetricsOf } from '#core/metric-definition.ts';

/** Instances over DICOMweb; its requests are counted with those of the FHIR surface, by route. */
export const dicomWebMetricDefinitions = {
	dicomWebInstances: {
		name: 'tributary_dicomweb_instances_total',
		kind: 'counter',
		help: 'Instances stored and retrieved over DICOMweb, by outcome. Abandoned transfers broke off.',
		labels: { operation: ['store', 'retrieve'], outcome: ['success', 'warning', 'failure', 'abandoned'] },
	},
} as const satisfies MetricDefinitions;

export type DicomWebMetrics = MetricsOf<typeof dicomWebMetricDefinitions>;
