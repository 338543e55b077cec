import type { MetricDefinitions, MetricsOf } from '#core/metric-definition.ts';

/** Connections and frames. */
export const mllpMetricDefinitions = {
	mllpConnections: {
		name: 'tributary_mllp_connections',
		kind: 'gauge',
		help: 'Open MLLP connections.',
		labels: {},
	},
	mllpConnectionsPaused: {
		name: 'tributary_mllp_connections_paused',
		kind: 'gauge',
		help: 'Open MLLP connections whose reading is paused by back-pressure.',
		labels: {},
	},
	mllpConnectionsOpened: {
		name: 'tributary_mllp_connections_total',
		kind: 'counter',
		help: 'MLLP connections by the decision at their start.',
		labels: {
			result: [
				'accepted',
				'refused-address',
				'refused-limit',
				'refused-address-limit',
				'refused-client-limit',
				'refused-site-limit',
				'refused-proxy',
				'refused-tls',
				'unavailable',
			],
		},
	},
	mllpConnectionsEnded: {
		name: 'tributary_mllp_connection_ends_total',
		kind: 'counter',
		help: 'Ends of accepted MLLP connections, by reason.',
		labels: { reason: ['peer', 'idle', 'frame-timeout', 'slow-reader', 'unavailable', 'paused', 'address', 'proxy', 'error', 'drained'] },
	},
	mllpFrames: {
		name: 'tributary_mllp_frames_total',
		kind: 'counter',
		help: 'Complete MLLP frames received.',
		labels: {},
	},
	mllpReceivedBytes: {
		name: 'tributary_mllp_received_bytes_total',
		kind: 'counter',
		help: 'Bytes received over MLLP, framing included.',
		labels: {},
	},
	mllpSkippedBytes: {
		name: 'tributary_mllp_skipped_bytes_total',
		kind: 'counter',
		help: 'Skipped bytes between MLLP frames.',
		labels: {},
	},
	mllpFrameErrors: {
		name: 'tributary_mllp_frame_errors_total',
		kind: 'counter',
		help: 'Faulty MLLP frames, by fault.',
		labels: { reason: ['restarted', 'unfinished', 'timeout', 'too-long', 'empty'] },
	},
} as const satisfies MetricDefinitions;

export type MllpMetrics = MetricsOf<typeof mllpMetricDefinitions>;
