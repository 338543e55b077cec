import type { MetricDefinitions } from '#core/metric-definition.ts';

/** The running process. */
export const processMetricDefinitions = {
	buildInfo: {
		name: 'tributary_build_info',
		kind: 'gauge',
		help: 'Always 1; the labels name the running version.',
		across: 'max',
		labels: { version: { boundedBy: 'one per process' }, node: { boundedBy: 'one per process' } },
	},
} as const satisfies MetricDefinitions;
