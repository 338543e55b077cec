import type { LimitDefinitions, LimitsOf } from '#core/limit-definition.ts';

const daysMax = 36_500;
const GiB = 1024 ** 3;

/** Sets how long data is kept where a site says nothing else, and how gently older data is removed. The audit trail has AUDIT_KEEP_DAYS. */
export const retentionLimitDefinitions = {
	messageRetentionDays: {
		variable: 'MESSAGE_RETENTION_DAYS',
		default: 0,
		min: 0,
		max: daysMax,
		answer: 'age in days at which a message leaves the message log; 0 keeps it for ever',
	},
	historyRetentionDays: {
		variable: 'HISTORY_RETENTION_DAYS',
		default: 0,
		min: 0,
		max: daysMax,
		answer: 'age in days at which an earlier version of a resource is removed; the current version stays. 0 keeps it for ever',
	},
	acceptedRetentionDays: {
		variable: 'ACCEPTED_RETENTION_DAYS',
		default: 400,
		min: 0,
		max: daysMax,
		answer: 'age in days up to which a message that comes again is recognised and not applied again; 0 is for ever',
	},
	unmatchedRetentionDays: {
		variable: 'UNMATCHED_RETENTION_DAYS',
		default: 400,
		min: 0,
		max: daysMax,
		answer: 'age in days at which an unmatched message is removed; 0 keeps it for ever',
	},
	jobRetentionDays: {
		variable: 'JOB_RETENTION_DAYS',
		default: 90,
		min: 0,
		max: daysMax,
		answer: 'days since the end of a replay or another run of many messages after which its row is removed; 0 keeps it for ever',
	},
	feedRetentionDays: {
		variable: 'FEED_RETENTION_DAYS',
		default: 35,
		min: 0,
		max: daysMax,
		answer: 'age in days at which the figures of feeds are removed; silence is judged by four weeks of them. 0 keeps them for ever',
	},
	studyRetentionDays: {
		variable: 'STUDY_RETENTION_DAYS',
		default: 0,
		min: 0,
		max: daysMax,
		answer: 'days since the last change of a study after which it is deleted with its images; 0 keeps it for ever',
	},
	retentionBatchRows: {
		variable: 'RETENTION_BATCH_ROWS',
		default: 1000,
		min: 10,
		max: 100_000,
		answer: 'rows that retention removes in one transaction; the next one follows after a pause as long as it took',
	},
	diskBudgetBytes: {
		variable: 'DISK_BUDGET_BYTES',
		default: 0,
		min: 0,
		max: 1_000_000 * GiB,
		answer: 'bytes of the file system with DATA_DIR that may be in use before alerts say that it is full; 0 is its size',
	},
	databaseBudgetBytes: {
		variable: 'DATABASE_BUDGET_BYTES',
		default: 0,
		min: 0,
		max: 1_000_000 * GiB,
		answer: 'bytes that the database may have before alerts say that it is full; with 0 it is not judged',
	},
} as const satisfies LimitDefinitions;

export type RetentionLimits = LimitsOf<typeof retentionLimitDefinitions>;
