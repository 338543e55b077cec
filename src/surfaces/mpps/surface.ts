import { renderJsonFailure } from '../http/json-answer.ts';
import { createHttpServer, type HttpServer, type HttpServerOptions } from '../http/server.ts';
import type { MppsContext } from './context.ts';
import { ingest } from './ingest.ts';

export type MppsListenOptions = Pick<HttpServerOptions, 'host' | 'port' | 'tls' | 'trustedProxies'>;

/** Reports about procedure steps over HTTP: `POST /ingest`. Rejects when the address cannot be bound. */
export function createMppsSurface(context: MppsContext, listen: MppsListenOptions): Promise<HttpServer> {
	const { limits, metrics, log } = context;
	return createHttpServer({
		...listen,
		name: 'mpps',
		limits,
		metrics,
		log,
		routes: [{ method: 'POST', pattern: '/ingest', handle: (request) => ingest(context, request) }],
		renderFailure: renderJsonFailure,
	});
}
