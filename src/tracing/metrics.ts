import type { MetricDefinitions, MetricsOf } from '#core/metric-definition.ts';

/** Spans of traces. */
export const tracingMetricDefinitions = {
	traceSpans: {
		name: 'tributary_trace_spans_total',
		kind: 'counter',
		help: 'Spans by what became of them: exported to the collector, or dropped because the queue was full or an export failed.',
		labels: { outcome: ['exported', 'dropped'] },
	},
	traceQueueSpans: {
		name: 'tributary_trace_queue_spans',
		kind: 'gauge',
		help: 'Spans that wait to be exported.',
		labels: {},
	},
} as const satisfies MetricDefinitions;

export type TracingMetrics = MetricsOf<typeof tracingMetricDefinitions>;
