import type { MetricDefinitions, MetricsOf } from '#core/metric-definition.ts';

/** Sign-ins and streams of live figures. */
export const adminMetricDefinitions = {
	signIns: {
		name: 'tributary_admin_sign_ins_total',
		kind: 'counter',
		help: 'Attempts to sign in to the admin surface, by outcome.',
		labels: { result: ['accepted', 'refused', 'locked'] },
	},
	silentFeeds: {
		name: 'tributary_silent_feeds',
		kind: 'gauge',
		help: 'Feeds of a site that have been silent for longer than usual, or than is set for them.',
		across: 'max',
		labels: { site: { boundedBy: 'the slugs of the configured sites' } },
	},
	liveWatchers: {
		name: 'tributary_admin_live_watchers',
		kind: 'gauge',
		help: 'Open streams of live figures.',
		labels: {},
	},
} as const satisfies MetricDefinitions;

export type AdminMetrics = MetricsOf<typeof adminMetricDefinitions>;
