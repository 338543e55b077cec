import type { MetricDefinitions, MetricsOf } from '#core/metric-definition.ts';

/** The database as this process sees it, and what is counted in it. */
export const storageMetricDefinitions = {
	databaseUp: {
		name: 'tributary_database_up',
		kind: 'gauge',
		help: '1 while the database answers.',
		labels: {},
	},
	readsInFlight: {
		name: 'tributary_reads_in_flight',
		kind: 'gauge',
		help: 'Statements of FHIR reads and searches that the database works on.',
		labels: {},
	},
	readFailures: {
		name: 'tributary_read_failures_total',
		kind: 'counter',
		help: 'Statements of FHIR reads and searches that failed.',
		labels: {},
	},
	openConflicts: {
		name: 'tributary_imaging_conflicts_open',
		kind: 'gauge',
		help: 'Objects with other content under a known UID that wait for a person to settle it.',
		labels: { site: { boundedBy: 'the slugs of the configured sites' } },
	},
	unmatchedMessages: {
		name: 'tributary_unmatched_messages_total',
		kind: 'counter',
		help: 'Messages that belong to no site; dropped ones were answered but not logged, the log was full.',
		labels: { reason: ['no-sender', 'tie'], result: ['logged', 'dropped'] },
	},
} as const satisfies MetricDefinitions;

export type StorageMetrics = MetricsOf<typeof storageMetricDefinitions>;
