import { latencySeconds, type MetricDefinitions, type MetricsOf } from '#core/metric-definition.ts';

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
	segments: {
		name: 'tributary_object_segments',
		kind: 'gauge',
		help: 'Segments of the object store, as the process that looks after them last saw them. Sealed segments never change.',
		labels: { state: ['growing', 'sealed'] },
	},
	segmentBytes: {
		name: 'tributary_object_segment_bytes',
		kind: 'gauge',
		help: 'Bytes of these segments. Removed bytes come back when their segment is compacted.',
		labels: { kind: ['live', 'removed'] },
	},
	segmentCompactions: {
		name: 'tributary_object_segment_compactions_total',
		kind: 'counter',
		help: 'Compacted segments. A segment with damaged records is kept.',
		labels: { outcome: ['emptied', 'damaged'] },
	},
	filesMoved: {
		name: 'tributary_object_files_moved_total',
		kind: 'counter',
		help: 'Files of the object store that were moved into segments.',
		labels: {},
	},
	appendSeconds: {
		name: 'tributary_object_append_seconds',
		kind: 'histogram',
		help: 'Time until an object that the main thread appends to a segment is durable.',
		labels: {},
		buckets: latencySeconds,
	},
	syncSeconds: {
		name: 'tributary_object_sync_seconds',
		kind: 'histogram',
		help: 'Duration of one sync of a segment by the main thread, which serves all objects that wait for it.',
		labels: {},
		buckets: latencySeconds,
	},
} as const satisfies MetricDefinitions;

export type StorageMetrics = MetricsOf<typeof storageMetricDefinitions>;
