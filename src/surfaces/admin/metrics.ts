import type { MetricDefinitions, MetricsOf } from '#core/metric-definition.ts';

/** Sign-ins and streams of live figures. */
export const adminMetricDefinitions = {
	signIns: {
		name: 'tributary_admin_sign_ins_total',
		kind: 'counter',
		help: 'Attempts to sign in to the admin surface, by outcome.',
		labels: { result: ['accepted', 'refused', 'locked'] },
	},
	liveWatchers: {
		name: 'tributary_admin_live_watchers',
		kind: 'gauge',
		help: 'Open streams of live figures.',
		labels: {},
	},
} as const satisfies MetricDefinitions;

export type AdminMetrics = MetricsOf<typeof adminMetricDefinitions>;
