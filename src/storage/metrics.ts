import type { MetricDefinitions, MetricsOf } from '#core/metric-definition.ts';

/** The database as this process sees it, and what is counted in it. */
export const storageMetricDefinitions = {
	databaseUp: {
		name: 'tributary_database_up',
		kind: 'gauge',
		help: '1 while the database answers.',
		across: 'min',
		labels: {},
	},
	readsInFlight: {
		name: 'tributary_reads_in_flight',
		kind: 'gauge',
		help: 'Statements of FHIR reads and searches in progress in the database.',
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
		help: 'Objects with different content under a known UID that wait for a person to settle the conflict.',
		across: 'max',
		labels: { site: { boundedBy: 'the slugs of the configured sites' } },
	},
	unmatchedMessages: {
		name: 'tributary_unmatched_messages_total',
		kind: 'counter',
		help: 'Messages without a matching site. Dropped messages were answered but not logged, because too many were waiting.',
		labels: { reason: ['no-sender', 'tie'], result: ['logged', 'dropped'] },
	},
} as const satisfies MetricDefinitions;

export type StorageMetrics = MetricsOf<typeof storageMetricDefinitions>;
