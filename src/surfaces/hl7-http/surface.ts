import { documentationRoutes } from '../http/documentation/routes.ts';
import { renderJsonFailure } from '../http/json-answer.ts';
import { createHttpServer, type HttpServer, type HttpServerOptions } from '../http/server.ts';
import type { Hl7HttpContext } from './context.ts';
import { ingest } from './ingest.ts';
import { ingestV3 } from './ingest-v3.ts';
import { hl7OpenApi } from './openapi.ts';

export type Hl7HttpListenOptions = Pick<HttpServerOptions, 'host' | 'port' | 'tls' | 'trustedProxies'> & {
	/** Whether the API reference is served. */
	documented: boolean;
	version: string;
};

/** HL7 over HTTP: `POST /v2/ingest` and `POST /v3/ingest`. Rejects when the address cannot be bound. */
export function createHl7HttpSurface(context: Hl7HttpContext, listen: Hl7HttpListenOptions): Promise<HttpServer> {
	const { limits, metrics, log } = context;
	const { documented, version, ...server } = listen;
	const reference = documented ? documentationRoutes((origin) => hl7OpenApi(version, origin)) : [];
	return createHttpServer({
		...server,
		name: 'hl7-http',
		limits,
		metrics,
		log,
		routes: [
			{ method: 'POST', pattern: '/v2/ingest', handle: (request) => ingest(context, request) },
			{ method: 'POST', pattern: '/v3/ingest', handle: (request) => ingestV3(context, request) },
			...reference,
		],
		renderFailure: renderJsonFailure,
	});
}
