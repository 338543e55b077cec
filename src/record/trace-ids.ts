/**
 * The span of a request or message, as its log lines name it (OpenTelemetry, "Trace Context in non-OTLP Log Formats"): 32 and 16 hexadecimal
 * digits (W3C Trace Context).
 */
export interface TraceIds {
	trace_id: string;
	span_id: string;
}
