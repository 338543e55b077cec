import { latencySeconds, type MetricDefinitions, type MetricsOf } from '#core/metric-definition.ts';

const statusClasses = ['1xx', '2xx', '3xx', '4xx', '5xx'] as const;
export type StatusClass = (typeof statusClasses)[number];

/** 503 → `5xx`. */
export function statusClass(status: number): StatusClass {
	return statusClasses[Math.floor(status / 100) - 1] ?? '5xx';
}

const httpSurfaces = ['fhir', 'hl7-http', 'mpps', 'admin', 'operations'] as const;
export type HttpSurfaceName = (typeof httpSurfaces)[number];
const route = { boundedBy: 'the route patterns of the surface, never a requested path' } as const;

/** Requests of every HTTP surface. */
export const httpMetricDefinitions = {
	httpRequests: {
		name: 'tributary_http_requests_total',
		kind: 'counter',
		help: 'Answered HTTP requests.',
		labels: { surface: httpSurfaces, route, status: statusClasses },
	},
	tlsRemaining: {
		name: 'tributary_tls_remaining_seconds',
		kind: 'gauge',
		help: 'Time until the first certificate of a TLS file expires.',
		labels: { file: ['certificate', 'client-ca'] },
		across: 'min',
	},
	tlsRenewals: {
		name: 'tributary_tls_renewals_total',
		kind: 'counter',
		help: 'Changes of the TLS files that were noticed, by whether they could be used.',
		labels: { outcome: ['taken', 'refused'] },
	},
	httpSeconds: {
		name: 'tributary_http_request_seconds',
		kind: 'histogram',
		help: 'Time from the head of an HTTP request until its answer is handed to the socket.',
		labels: { surface: httpSurfaces, route },
		buckets: latencySeconds,
	},
	httpShareRefusals: {
		name: 'tributary_http_share_refusals_total',
		kind: 'counter',
		help: 'HTTP requests that were refused because their address, key or site had its share of requests or of memory for bodies.',
		labels: { surface: httpSurfaces, holder: ['address', 'key', 'site'], of: ['requests', 'bytes'] },
	},
} as const satisfies MetricDefinitions;

export type HttpMetrics = MetricsOf<typeof httpMetricDefinitions>;
