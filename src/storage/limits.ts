import type { LimitDefinitions, LimitsOf } from '#core/limit-definition.ts';

const MiB = 1024 * 1024;

/** Connections of a process to the database, beside those of the lanes, which follow from WORKERS, and what waits for them. */
export const storageLimitDefinitions = {
	readStatementsMax: {
		variable: 'READ_STATEMENTS_MAX',
		default: 2000,
		min: 1,
		max: 100_000,
		answer: 'reads and searches that the database works on; 503 with Retry-After',
	},
	readMsMax: {
		variable: 'READ_MS_MAX',
		default: 30_000,
		min: 100,
		max: 600_000,
		answer: 'a read or search that takes longer is ended; 503',
	},
	readConnectionsMax: {
		variable: 'READ_CONNECTIONS_MAX',
		default: 4,
		min: 1,
		max: 64,
		answer: 'connections for reads and searches; a further one shares the one with the least under way',
	},
	peopleConnectionsMax: {
		variable: 'PEOPLE_CONNECTIONS_MAX',
		default: 4,
		min: 1,
		max: 64,
		answer: 'connections for console, admin API, sign-in and command line; a further request waits for one',
	},
	peopleWaitMsMax: {
		variable: 'PEOPLE_WAIT_MS_MAX',
		default: 5000,
		min: 100,
		max: 60_000,
		answer: 'the wait for one of them, or for a new one; 503, or the command fails',
	},
	unmatchedMessagesMax: {
		variable: 'UNMATCHED_MESSAGES_MAX',
		default: 1000,
		min: 1,
		max: 100_000,
		answer: 'unmatched messages waiting to be logged; further ones are only counted',
	},
	unmatchedBytesMax: {
		variable: 'UNMATCHED_BYTES_MAX',
		default: 64 * MiB,
		min: MiB,
		max: 4096 * MiB,
		answer: 'bytes of unmatched messages waiting to be logged; as above',
	},
} as const satisfies LimitDefinitions;

export type StorageLimits = LimitsOf<typeof storageLimitDefinitions>;
