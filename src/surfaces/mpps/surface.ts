import { createIngestSurface, type IngestContext, type IngestListenOptions } from '../http/ingest-surface.ts';
import type { Route } from '../http/message.ts';
import type { HttpServer } from '../http/server.ts';
import { ingest } from './ingest.ts';
import { mppsOpenApi } from './openapi.ts';

/** Reports about procedure steps over HTTP: `POST /ingest`. Rejects when the address cannot be bound. */
export function createMppsSurface(context: IngestContext, listen: IngestListenOptions): Promise<HttpServer> {
	const routes: Route[] = [{ method: 'POST', pattern: '/ingest', handle: (request) => ingest(context, request) }];
	return createIngestSurface({ name: 'mpps', routes, openApi: mppsOpenApi }, context, listen);
}
