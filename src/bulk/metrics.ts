import type { MetricDefinitions, MetricsOf } from '#core/metric-definition.ts';

const bulkKinds = ['export', 'import'] as const;

/** Exports and imports. */
export const bulkMetricDefinitions = {
	bulkJobs: {
		name: 'tributary_bulk_jobs_total',
		kind: 'counter',
		help: 'Ended exports and imports, by outcome.',
		labels: { kind: bulkKinds, outcome: ['done', 'failed', 'stopped'] },
	},
	bulkRunning: {
		name: 'tributary_bulk_running',
		kind: 'gauge',
		help: 'Exports and imports that this node is carrying out.',
		labels: { kind: bulkKinds },
	},
	bulkWaiting: {
		name: 'tributary_bulk_waiting',
		kind: 'gauge',
		help: 'Exports and imports that wait for their turn on this node.',
		labels: {},
	},
	bulkRefusals: {
		name: 'tributary_bulk_refusals_total',
		kind: 'counter',
		help: 'Exports and imports that were refused because their site or key has its share under way, or their site keeps too many.',
		labels: { bound: ['under-way', 'key-under-way', 'kept'] },
	},
	bulkBytes: {
		name: 'tributary_bulk_bytes_total',
		kind: 'counter',
		help: 'Bytes that exports wrote and imports received.',
		labels: { kind: bulkKinds },
	},
	bulkLines: {
		name: 'tributary_bulk_lines_total',
		kind: 'counter',
		help: 'Lines of exports that ended, and of imports by outcome.',
		labels: { outcome: ['exported', 'created', 'updated', 'unchanged', 'refused'] },
	},
} as const satisfies MetricDefinitions;

export type BulkMetrics = MetricsOf<typeof bulkMetricDefinitions>;
