import { renderJsonFailure } from '../http/json-answer.ts';
import { createHttpServer, type HttpServer, type HttpServerOptions } from '../http/server.ts';
import type { Hl7HttpContext } from './context.ts';
import { ingest } from './ingest.ts';

export type Hl7HttpListenOptions = Pick<HttpServerOptions, 'host' | 'port' | 'tls' | 'trustedProxies'>;

/** HL7 v2 over HTTP: `POST /v2/ingest`. Rejects when the address cannot be bound. */
export function createHl7HttpSurface(context: Hl7HttpContext, listen: Hl7HttpListenOptions): Promise<HttpServer> {
	const { limits, metrics, log } = context;
	return createHttpServer({
		...listen,
		name: 'hl7-http',
		limits,
		metrics,
		log,
		routes: [{ method: 'POST', pattern: '/v2/ingest', handle: (request) => ingest(context, request) }],
		renderFailure: renderJsonFailure,
	});
}
