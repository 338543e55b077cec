import { documentationRoutes } from '../http/documentation/routes.ts';
import { renderJsonFailure } from '../http/json-answer.ts';
import { createHttpServer, type HttpServer, type HttpServerOptions } from '../http/server.ts';
import type { MppsContext } from './context.ts';
import { ingest } from './ingest.ts';
import { mppsOpenApi } from './openapi.ts';

export type MppsListenOptions = Pick<HttpServerOptions, 'host' | 'port' | 'tls' | 'trustedProxies'> & {
	/** Whether the API reference is served. */
	documented: boolean;
	version: string;
};

/** Reports about procedure steps over HTTP: `POST /ingest`. Rejects when the address cannot be bound. */
export function createMppsSurface(context: MppsContext, listen: MppsListenOptions): Promise<HttpServer> {
	const { limits, metrics, log } = context;
	const { documented, version, ...server } = listen;
	const reference = documented ? documentationRoutes((origin) => mppsOpenApi(version, origin)) : [];
	return createHttpServer({
		...server,
		name: 'mpps',
		limits,
		metrics,
		log,
		routes: [{ method: 'POST', pattern: '/ingest', handle: (request) => ingest(context, request) }, ...reference],
		renderFailure: renderJsonFailure,
	});
}
