import { createIngestSurface, type IngestContext, type IngestListenOptions, openIngest } from '../http/ingest-surface.ts';
import type { Route } from '../http/message.ts';
import type { HttpServer } from '../http/server.ts';
import type { Surface } from '../node.ts';
import { ingest } from './ingest.ts';
import { ingestV3 } from './ingest-v3.ts';
import { hl7OpenApi } from './openapi.ts';

/** Serves HL7 over HTTP: `POST /v2/ingest` and `POST /v3/ingest`. Rejects when the address cannot be bound. */
export function createHl7HttpSurface(context: IngestContext, listen: IngestListenOptions): Promise<HttpServer> {
	const routes: Route[] = [
		{ method: 'POST', pattern: '/v2/ingest', keyScope: 'ingest', handle: (request) => ingest(context, request) },
		{ method: 'POST', pattern: '/v3/ingest', keyScope: 'ingest', handle: (request) => ingestV3(context, request) },
	];
	return createIngestSurface({ name: 'hl7-http', routes, openApi: hl7OpenApi }, context, listen);
}

/** HL7 v2 and v3 over HTTP. */
export const hl7HttpSurface: Surface = {
	name: 'hl7',
	open: (node) => openIngest(node, 'hl7', node.config.HL7_PORT, createHl7HttpSurface),
};
