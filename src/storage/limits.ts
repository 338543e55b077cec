import type { LimitDefinitions, LimitsOf } from '#core/limit-definition.ts';

const MiB = 1024 * 1024;

/** Connections of a process to the database, beside those of the lanes, which follow from WORKERS, and what waits for them. */
export const storageLimitDefinitions = {
	readStatementsMax: {
		variable: 'READ_STATEMENTS_MAX',
		default: 2000,
		min: 1,
		max: 100_000,
		ofNode: 'divided',
		answer: 'concurrent reads and searches in the database; 503 with Retry-After',
	},
	feedMetricsMax: {
		variable: 'FEED_METRICS_MAX',
		default: 200,
		min: 0,
		max: 10_000,
		answer: 'clients and keys with metrics of their own, the oldest ones of all sites; the others are counted by site',
	},
	writeMsMax: {
		variable: 'WRITE_MS_MAX',
		default: 20_000,
		min: 100,
		max: 600_000,
		answer: 'a statement of a batch that takes longer is ended, and the batch is tried again',
	},
	readMsMax: {
		variable: 'READ_MS_MAX',
		default: 30_000,
		min: 100,
		max: 600_000,
		answer: 'time for a read or search; it is ended, 503',
	},
	readConnectionsMax: {
		variable: 'READ_CONNECTIONS_MAX',
		default: 4,
		min: 1,
		max: 64,
		ofNode: 'divided',
		answer:
			'connections for reads and searches; up to eight short ones share one, and the slow ones of a site wait while they have half of them',
	},
	replicaWaitMsMax: {
		variable: 'REPLICA_WAIT_MS_MAX',
		default: 100,
		min: 0,
		max: 10_000,
		answer: 'time that a read waits until the replica of DATABASE_READ_URL has what its site committed before; then the primary answers it',
	},
	replicaLagMsMax: {
		variable: 'REPLICA_LAG_MS_MAX',
		default: 10_000,
		min: 1000,
		max: 3_600_000,
		answer: 'lag of that replica; beyond it the primary answers all reads',
	},
	peopleConnectionsMax: {
		variable: 'PEOPLE_CONNECTIONS_MAX',
		default: 4,
		min: 1,
		max: 64,
		ofNode: 'divided',
		answer: 'connections for the console, the admin API, sign-in and the command line; a further request waits for one',
	},
	peopleWaitMsMax: {
		variable: 'PEOPLE_WAIT_MS_MAX',
		default: 5000,
		min: 100,
		max: 60_000,
		answer: 'time to wait for one of those connections; 503, or the command fails',
	},
	unmatchedMessagesMax: {
		variable: 'UNMATCHED_MESSAGES_MAX',
		default: 1000,
		min: 1,
		max: 100_000,
		ofNode: 'divided',
		answer: 'unmatched messages that wait to be logged; further ones are only counted',
	},
	unmatchedBytesMax: {
		variable: 'UNMATCHED_BYTES_MAX',
		default: 64 * MiB,
		min: MiB,
		max: 4096 * MiB,
		ofNode: 'divided',
		answer: 'bytes of unmatched messages that wait to be logged; further ones are only counted',
	},
	compactTextMin: {
		variable: 'COMPACT_TEXT_MIN',
		default: 200,
		min: 0,
		max: 1_000_000_000,
		answer: 'characters from which on the text of a resource that a message wrote is stored compact; with 0 none is',
	},
	objectStoreMsMax: {
		variable: 'OBJECT_STORE_MS_MAX',
		default: 10_000,
		min: 100,
		max: 600_000,
		answer: 'time in which a step of the object store, or a connection to a bucket, gets on; 0xA700, DICOMweb 503',
	},
	objectStoreAttemptsMax: {
		variable: 'OBJECT_STORE_ATTEMPTS_MAX',
		default: 2,
		min: 1,
		max: 10,
		answer: 'times that a request to a bucket is sent; then 0xA700, DICOMweb 503',
	},
	objectProbeMsMax: {
		variable: 'OBJECT_PROBE_MS_MAX',
		default: 1300,
		min: 100,
		max: 60_000,
		answer: 'time in which the object store answers a probe; then /health/ready is 503, and new images are refused',
	},
	segmentedObjectBytesMax: {
		variable: 'SEGMENTED_OBJECT_BYTES_MAX',
		default: 4 * MiB,
		min: 0,
		max: 64 * MiB,
		answer: 'bytes up to which an object is a record of a segment, in a store of files; a longer one is a file of its own, with 0 each is',
	},
	objectUpkeepBytesPerSecondMax: {
		variable: 'OBJECT_UPKEEP_BYTES_PER_SECOND_MAX',
		default: 16 * MiB,
		min: 0,
		max: 4096 * MiB,
		answer: 'bytes a second that compaction of segments, and the move of files into them, copy; with 0 there is neither',
	},
	segmentBytes: {
		variable: 'SEGMENT_BYTES',
		default: 1024 * MiB,
		min: MiB,
		max: 65_536 * MiB,
		answer: 'bytes of a segment of the object store; what comes next begins another one',
	},
} as const satisfies LimitDefinitions;

export type StorageLimits = LimitsOf<typeof storageLimitDefinitions>;
