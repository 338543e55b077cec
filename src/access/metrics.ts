import type { MetricDefinitions, MetricsOf } from '#core/metric-definition.ts';

/** Metrics of refused callers, and of the age of the directory. */
export const accessMetricDefinitions = {
	accessSnapshotAge: {
		name: 'tributary_access_snapshot_age_seconds',
		kind: 'gauge',
		help: 'Time since keys and integration clients were last known to be current.',
		across: 'max',
		labels: {},
	},
	accessRefusals: {
		name: 'tributary_access_refusals_total',
		kind: 'counter',
		help: 'Refused callers.',
		labels: {
			protocol: ['hl7-mllp', 'http', 'dicom'],
			reason: ['address', 'sender', 'tie', 'key', 'token', 'proxy', 'certificate', 'called', 'calling'],
		},
	},
} as const satisfies MetricDefinitions;

export type AccessMetrics = MetricsOf<typeof accessMetricDefinitions>;
