import type { ProcedureStepService } from '#mpps/procedure-steps.ts';
import { createIngestSurface, type IngestListenOptions, openIngest } from '../http/ingest-surface.ts';
import type { Route } from '../http/message.ts';
import type { HttpServer } from '../http/server.ts';
import type { ServiceNode, Surface } from '../node.ts';
import { ingest, type MppsContext } from './ingest.ts';
import { mppsOpenApi } from './openapi.ts';
import { createProcedureSteps } from './procedure-steps.ts';

/** Serves reports about procedure steps over HTTP: `POST /ingest`. Rejects when the address cannot be bound. */
export function createMppsSurface(context: MppsContext, listen: IngestListenOptions): Promise<HttpServer> {
	const routes: Route[] = [{ method: 'POST', pattern: '/ingest', keyScope: 'ingest', handle: (request) => ingest(context, request) }];
	return createIngestSurface({ name: 'mpps', routes, openApi: mppsOpenApi }, context, listen);
}

/** Reports about procedure steps over HTTP. */
export const mppsSurface: Surface = {
	name: 'mpps',
	open: (node) => openIngest(node, 'mpps', node.config.MPPS_PORT, createMppsSurface),
};

/** Returns the service by which DIMSE reports about the same procedure steps. */
export function procedureStepsOf({ config, gateway, metrics, clock }: ServiceNode): ProcedureStepService {
	return createProcedureSteps({ gateway, limits: config.limits, metrics, clock });
}
