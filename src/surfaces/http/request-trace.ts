import type { Trace, TraceAttributes, Tracing } from '#record/tracing.ts';
import type { HttpRequest } from './message.ts';

type Head = Pick<HttpRequest, 'method' | 'path' | 'header' | 'secure' | 'caller'>;

/** Names the surface of a request: that of the path, where the origin has several. */
export interface TracedOrigin {
	name: string;
	surfaceOf?(path: string): string;
}

/** Methods that the surfaces know (RFC 9110 §9, RFC 5789); a sender may write anything else there. */
const methods = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']);

/** The span of a request, by the semantic conventions of OpenTelemetry for HTTP servers. It has the template of the route, never the path. */
export class RequestTrace {
	readonly trace: Trace;
	readonly #head: Head;

	private constructor(trace: Trace, head: Head) {
		this.trace = trace;
		this.#head = head;
	}

	/** Notes the ids in the head. Returns undefined for a request that is not sampled. */
	static begin(tracing: Tracing, head: Head, origin: TracedOrigin): RequestTrace | undefined {
		const { method, path, header, secure } = head;
		const known = methods.has(method) ? method : '_OTHER';
		const trace = tracing.begin({
			kind: 'server',
			name: known === '_OTHER' ? 'HTTP' : known,
			surface: origin.surfaceOf?.(path) ?? origin.name,
			startedMs: performance.now(),
			traceparent: header('traceparent'),
			tracestate: header('tracestate'),
			attributes: { 'http.request.method': known, 'url.scheme': secure ? 'https' : 'http' },
		});
		if (trace === undefined) return undefined;
		Object.assign(head, { trace: trace.ids });
		return new RequestTrace(trace, head);
	}

	/** `route`: the pattern, or `none`. Statuses from 500 on are errors of the server; others are the caller's. */
	answered(status: number, route: string): void {
		const { caller, method } = this.#head;
		const routed = route !== 'none' && methods.has(method);
		const attributes: Record<string, TraceAttributes[string]> = { 'http.response.status_code': status };
		if (routed) attributes['http.route'] = route;
		if (caller.grant) attributes['tributary.site'] = caller.grant.siteSlug;
		this.trace.end({ ...(routed && { name: `${method} ${route}` }), attributes, error: status >= 500 ? String(status) : undefined });
	}

	/** The caller has gone before the end of the answer. */
	aborted(): void {
		this.trace.end({ error: 'aborted' });
	}
}
