import { latencySeconds, type MetricDefinitions, type MetricsOf } from '#core/metric-definition.ts';
import { moveStates } from '#core/move-states.ts';

/** The steps of the object store that callers wait for. */
export const storeSteps = ['write', 'finish', 'publish', 'abandon', 'size', 'read', 'remove', 'move', 'list', 'close'] as const;
export type StoreStep = (typeof storeSteps)[number];

/** The operations of an object store, in the words of its protocols. */
const storeOperations = ['put', 'get', 'head', 'delete', 'move', 'list'] as const;
export type StoreOperation = (typeof storeOperations)[number];

const site = { boundedBy: 'the slugs of the configured sites' } as const;
const feed = { boundedBy: 'FEED_METRICS_MAX' } as const;

/** The database as this process sees it, and what is counted in it. */
export const storageMetricDefinitions = {
	databaseUp: {
		name: 'tributary_database_up',
		kind: 'gauge',
		help: '1 while the database answers.',
		across: 'min',
		labels: {},
	},
	databaseWal: {
		name: 'tributary_database_wal_bytes_total',
		kind: 'counter',
		help: 'WAL that the database wrote for all its users, as far as this node watched.',
		labels: {},
	},
	databaseArchiveFailures: {
		name: 'tributary_database_archive_failures_total',
		kind: 'counter',
		help: 'Attempts of the database to archive a WAL file that failed, as far as this node watched.',
		labels: {},
	},
	databaseArchiveFailing: {
		name: 'tributary_database_archive_failing',
		kind: 'gauge',
		help: '1 while the latest attempt to archive a WAL file is one that failed.',
		across: 'max',
		labels: {},
	},
	databaseLongestTransaction: {
		name: 'tributary_database_longest_transaction_seconds',
		kind: 'gauge',
		help: 'Age of the oldest open transaction of this database that the role of the service may see.',
		across: 'max',
		labels: {},
	},
	databaseDeadRows: {
		name: 'tributary_database_dead_rows_ratio',
		kind: 'gauge',
		help: 'The greatest share of dead rows among tables of more than 100,000 rows.',
		across: 'max',
		labels: {},
	},
	databaseStandbys: {
		name: 'tributary_database_standbys',
		kind: 'gauge',
		help: 'Standbys and other receivers of the WAL that are connected to the database.',
		across: 'max',
		labels: {},
	},
	databaseStandbyLag: {
		name: 'tributary_database_standby_lag_bytes',
		kind: 'gauge',
		help: 'Bytes of WAL that the standby which is furthest behind lacks, whether it is read or not; 0 where the role of the service may not see it.',
		across: 'max',
		labels: {},
	},
	databaseSlotWal: {
		name: 'tributary_database_slot_wal_bytes',
		kind: 'gauge',
		help: 'The most bytes of WAL that a replication slot holds back on the disk of the database.',
		across: 'max',
		labels: {},
	},
	movingSites: {
		name: 'tributary_moving_sites',
		kind: 'gauge',
		help: 'Sites that move to another database, or were moved there.',
		across: 'max',
		labels: { state: moveStates },
	},
	closedSites: {
		name: 'tributary_closed_sites',
		kind: 'gauge',
		help: 'Sites whose senders wait for the switch of a move.',
		across: 'max',
		labels: {},
	},
	readsInFlight: {
		name: 'tributary_reads_in_flight',
		kind: 'gauge',
		help: 'Statements of FHIR reads and searches in progress in the database.',
		labels: {},
	},
	readsWaiting: {
		name: 'tributary_reads_waiting',
		kind: 'gauge',
		help: 'Those of them that wait, because their site has its share of the connections for slow reads.',
		labels: {},
	},
	readFailures: {
		name: 'tributary_read_failures_total',
		kind: 'counter',
		help: 'Statements of FHIR reads and searches that failed.',
		labels: {},
	},
	replicaUp: {
		name: 'tributary_replica_up',
		kind: 'gauge',
		help: '1 while the replica of DATABASE_READ_URL answers as a standby of the primary, and where there is none.',
		across: 'min',
		labels: {},
	},
	replicaLagSeconds: {
		name: 'tributary_replica_lag_seconds',
		kind: 'gauge',
		help: 'Age of the oldest thing that the replica lacks; 0 while it lacks nothing.',
		across: 'max',
		labels: {},
	},
	replicaLagBytes: {
		name: 'tributary_replica_lag_bytes',
		kind: 'gauge',
		help: 'Bytes of the write-ahead log that the primary has and the replica has not replayed.',
		across: 'max',
		labels: {},
	},
	replicaReads: {
		name: 'tributary_replica_reads_total',
		kind: 'counter',
		help: 'Reads and searches with a replica, by who answered: the replica at once or after a wait, or the primary because the replica was behind or away.',
		labels: { answered: ['replica', 'replica_waited', 'primary_behind', 'primary_away'] },
	},
	openConflicts: {
		name: 'tributary_imaging_conflicts_open',
		kind: 'gauge',
		help: 'Objects with different content under a known UID that wait for a person to settle the conflict.',
		across: 'max',
		labels: { site },
	},
	unmatchedMessages: {
		name: 'tributary_unmatched_messages_total',
		kind: 'counter',
		help: 'Messages without a matching site. Dropped messages were answered but not logged, because too many were waiting.',
		labels: { reason: ['no-sender', 'tie', 'called', 'calling'], result: ['logged', 'dropped'] },
	},
	siteLastMessage: {
		name: 'tributary_site_last_message_timestamp_seconds',
		kind: 'gauge',
		help: 'When the latest message of a site came, over all nodes, in seconds since 1970. It outlives a restart.',
		across: 'max',
		labels: { site },
	},
	feedLastMessage: {
		name: 'tributary_feed_last_message_timestamp_seconds',
		kind: 'gauge',
		help: 'When the latest message of a client or key came, over all nodes, in seconds since 1970.',
		across: 'max',
		labels: { site, feed, name: { boundedBy: 'one per feed' } },
	},
	feedMessages: {
		name: 'tributary_feed_messages_total',
		kind: 'counter',
		help: 'Messages by client or key; `other` stands for all others of the site. They are counted within twenty seconds of their answer.',
		labels: { site, feed, outcome: ['taken', 'refused'] },
	},
	backupAge: {
		name: 'tributary_backup_age_seconds',
		kind: 'gauge',
		help: 'Seconds since the moment of which the last finished backup is. 0 where `tributary backup` was never run.',
		across: 'max',
		labels: {},
	},
	objectStoreUp: {
		name: 'tributary_object_store_up',
		kind: 'gauge',
		help: '1 while the object store takes and answers a probe.',
		across: 'min',
		labels: {},
	},
	objectStoreTimeouts: {
		name: 'tributary_object_store_timeouts_total',
		kind: 'counter',
		help: 'Steps of the object store that took longer than OBJECT_STORE_MS_MAX.',
		labels: { step: storeSteps },
	},
	objectStoreRetries: {
		name: 'tributary_object_store_retries_total',
		kind: 'counter',
		help: 'Requests to a bucket that were sent again, because it was overloaded, failed or did not answer (OBJECT_STORE_ATTEMPTS_MAX). The first attempt does not count.',
		labels: {},
	},
	operationSeconds: {
		name: 'tributary_object_store_operation_seconds',
		kind: 'histogram',
		help: 'Duration of what the main thread asks of the object store: a `put` until the object is durable, a `get` until its first bytes, a `list` until its first entry. What is given up after OBJECT_STORE_MS_MAX failed.',
		labels: { operation: storeOperations, outcome: ['done', 'missing', 'failed'] },
		buckets: [0.001, 0.005, 0.025, 0.1, 0.5, 2.5, 10, 30],
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
	compactionLastRun: {
		name: 'tributary_object_compaction_last_run_timestamp_seconds',
		kind: 'gauge',
		help: 'When this node last came to the end of a round of looking after the segments, in seconds since 1970; 0 while another node does it, and with S3.',
		across: 'max',
		labels: {},
	},
	compactionRewritten: {
		name: 'tributary_object_compaction_rewritten_bytes_total',
		kind: 'counter',
		help: 'Bytes of objects that compaction copied into other segments.',
		labels: {},
	},
	compactionFreed: {
		name: 'tributary_object_compaction_freed_bytes_total',
		kind: 'counter',
		help: 'Bytes of the segments that were removed after their compaction.',
		labels: {},
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
