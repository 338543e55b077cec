import { latencySeconds, type MetricDefinitions, type MetricsOf } from '#core/metric-definition.ts';

const statusClasses = ['1xx', '2xx', '3xx', '4xx', '5xx'] as const;
export type StatusClass = (typeof statusClasses)[number];

/** 503 → `5xx`. */
export function statusClass(status: number): StatusClass {
	return statusClasses[Math.floor(status / 100) - 1] ?? '5xx';
}

const httpSurfaces = ['fhir', 'hl7-http', 'mpps', 'admin', 'operations'] as const;
const route = { boundedBy: 'the route patterns of the surface, never a requested path' } as const;

/** Requests of every HTTP surface. */
export const httpMetricDefinitions = {
	httpRequests: {
		name: 'tributary_http_requests_total',
		kind: 'counter',
		help: 'Answered HTTP requests.',
		labels: { surface: httpSurfaces, route, status: statusClasses },
	},
	httpSeconds: {
		name: 'tributary_http_request_seconds',
		kind: 'histogram',
		help: 'Time from the head of an HTTP request until its answer is handed to the socket.',
		labels: { surface: httpSurfaces, route },
		buckets: latencySeconds,
	},
} as const satisfies MetricDefinitions;

export type HttpMetrics = MetricsOf<typeof httpMetricDefinitions>;
