import type { MetricDefinitions, MetricsOf } from '#core/metric-definition.ts';

/** Data that is kept for some time, by the names that people see. */
export const keptNames = ['messages', 'history', 'accepted', 'unmatched', 'jobs', 'feeds', 'studies'] as const;
export type KeptName = (typeof keptNames)[number];

/** Counts what retention removes, and tells how full the disk and the database are. */
export const retentionMetricDefinitions = {
	retentionRows: {
		name: 'tributary_retention_removed_rows_total',
		kind: 'counter',
		help: 'Rows that a node removed by their age; a study counts as one. Months of the audit trail are not among them.',
		labels: { kept: keptNames },
	},
	retentionFailing: {
		name: 'tributary_retention_failing',
		kind: 'gauge',
		help: '1 while the latest run of retention of the network failed.',
		across: 'max',
		labels: {},
	},
	retentionAge: {
		name: 'tributary_retention_age_seconds',
		kind: 'gauge',
		help: 'Time since the latest run of retention of the network that succeeded; 0 before the first.',
		across: 'max',
		labels: {},
	},
	diskBytes: {
		name: 'tributary_disk_bytes',
		kind: 'gauge',
		help: 'Bytes of the file system with DATA_DIR: those that the service may still use, and those in use.',
		across: 'max',
		labels: { kind: ['free', 'used'] },
	},
	databaseBytes: {
		name: 'tributary_database_bytes',
		kind: 'gauge',
		help: 'The size of the database.',
		across: 'max',
		labels: {},
	},
	budgetUsed: {
		name: 'tributary_budget_used_ratio',
		kind: 'gauge',
		help: 'How much of DISK_BUDGET_BYTES, or of the file system, and of DATABASE_BUDGET_BYTES is in use.',
		across: 'max',
		labels: { store: ['disk', 'database'] },
	},
} as const satisfies MetricDefinitions;

export type RetentionMetrics = MetricsOf<typeof retentionMetricDefinitions>;
