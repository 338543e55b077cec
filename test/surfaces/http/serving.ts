import { silentLog } from '#core/log.ts';
import type { AnyRoute } from '#surfaces/http/message.ts';
import { createHttpServer, type HttpServer, type HttpServerOptions } from '#surfaces/http/server.ts';
import { defaultLimits, type Limits } from '../../../src/limits.ts';
import { createMetrics } from '../../../src/metrics.ts';

/** A server of its own with the given routes. */
export function serve(
	routes: readonly AnyRoute[],
	limits: Partial<Limits> = {},
	{
		metrics = createMetrics({ processMetrics: false }),
		...options
	}: Partial<Pick<HttpServerOptions, 'admit' | 'log' | 'metrics' | 'tracing' | 'trustedProxies'>> = {},
): Promise<HttpServer> {
	return createHttpServer({
		name: 'fhir',
		host: '127.0.0.1',
		port: 0,
		trustedProxies: [],
		limits: { ...defaultLimits, ...limits },
		metrics,
		log: silentLog,
		routes,
		...options,
		renderFailure: (failure) => ({
			status: 500,
			headers: { 'Content-Type': 'application/json' },
			body: JSON.stringify({ code: failure.code, error: failure.diagnostics }),
		}),
	});
}
