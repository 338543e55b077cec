import type { MetricDefinitions, MetricsOf } from '#core/metric-definition.ts';

/** Frames that were asked for as pictures. */
export const renderingMetricDefinitions = {
	renderedFrames: {
		name: 'tributary_rendered_frames_total',
		kind: 'counter',
		help: 'Frames that were asked for as pictures, by result. Cached ones were not rendered again; refused ones are not shown; expired and failed ones ended their thread.',
		labels: { result: ['rendered', 'cached', 'refused', 'busy', 'expired', 'failed'] },
	},
} as const satisfies MetricDefinitions;

export type RenderingMetrics = MetricsOf<typeof renderingMetricDefinitions>;
