import type { MetricDefinition } from './metric-definition.ts';

/** The rows of DICOMweb in the table of metrics; its requests are counted with those of the FHIR surface, by route. */
export const dicomWebMetricDefinitions = {
	dicomWebInstances: {
		name: 'tributary_dicomweb_instances_total',
		kind: 'counter',
		help: 'Instances stored and retrieved over DICOMweb, by outcome; abandoned ones broke off.',
		labels: { operation: ['store', 'retrieve'], outcome: ['success', 'warning', 'failure', 'abandoned'] },
	},
} as const satisfies Record<string, MetricDefinition>;
