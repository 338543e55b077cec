import type { LimitDefinitions, LimitsOf } from '#core/limit-definition.ts';

/** Spans on their way to the collector. The names are those of OpenTelemetry. */
export const tracingLimitDefinitions = {
	traceQueueSpansMax: {
		variable: 'OTEL_BSP_MAX_QUEUE_SIZE',
		default: 2048,
		min: 1,
		max: 1_000_000,
		answer: 'spans of a process that may wait to be exported; further ones are dropped and counted',
	},
	traceExportSpansMax: {
		variable: 'OTEL_BSP_MAX_EXPORT_BATCH_SIZE',
		default: 512,
		min: 1,
		max: 100_000,
		answer: 'spans of one export; so many are exported at once',
	},
	traceExportWaitMsMax: {
		variable: 'OTEL_BSP_SCHEDULE_DELAY',
		default: 5000,
		min: 10,
		max: 600_000,
		answer: 'milliseconds for which a span waits for others at most, while no export is under way',
	},
	traceExportMsMax: {
		variable: 'OTEL_EXPORTER_OTLP_TIMEOUT',
		default: 10_000,
		min: 10,
		max: 600_000,
		answer: 'milliseconds for one export with its repetitions; then its spans are dropped and counted',
	},
} as const satisfies LimitDefinitions;

export type TracingLimits = LimitsOf<typeof tracingLimitDefinitions>;
