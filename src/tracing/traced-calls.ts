import type { HttpReach } from '#core/permitted-request.ts';
import type { Tracing } from '#record/tracing.ts';

/** Whom the service calls by HTTP of its own accord. */
type Called = 'webhook' | 'token-issuer';

/**
 * Has each call begin a trace of its own, by the semantic conventions of OpenTelemetry for HTTP clients. A receiver that traces continues it. The span has
 * no address: that of a webhook may be a secret.
 */
export function tracedCalls(tracing: Tracing | undefined, surface: Called): HttpReach['trace'] {
	if (tracing === undefined) return undefined;
	return (method) => {
		const attributes = { 'http.request.method': method };
		const trace = tracing.begin({ kind: 'client', name: method, surface, startedMs: performance.now(), attributes });
		if (trace === undefined) return undefined;
		const { trace_id: traceId, span_id: spanId } = trace.ids;
		return {
			traceparent: `00-${traceId}-${spanId}-01`,
			end: (outcome) => {
				if (outcome === 'error') return trace.end({ error: 'no-answer' });
				// A status from 400 on is an error for whoever calls.
				trace.end({ attributes: { 'http.response.status_code': outcome }, error: outcome >= 400 ? String(outcome) : undefined });
			},
		};
	};
}
