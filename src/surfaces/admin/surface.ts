import type { Failure } from '#core/failure.ts';
import { documentationRoutes } from '../http/documentation/routes.ts';
import { jsonAnswer } from '../http/json-answer.ts';
import type { AnyRoute, HttpAnswer } from '../http/message.ts';
import { createHttpServer, type HttpServer, type HttpServerOptions } from '../http/server.ts';
import { auditExport } from './audit-export.ts';
import type { ConsoleAssets } from './console-assets.ts';
import { consoleFiles } from './console-files.ts';
import type { AdminContext } from './context.ts';
import { liveRoutes } from './live/routes.ts';
import { adminOpenApi } from './openapi.ts';
import { operationRoutes } from './operation-routes.ts';
import { sessionRoutes } from './session-routes.ts';

export type AdminListenOptions = Pick<HttpServerOptions, 'host' | 'port' | 'tls' | 'trustedProxies'> & {
	/** The files of the console; may still be bundled. */
	assets: Promise<ConsoleAssets>;
	/** Whether the API reference is served. */
	documented: boolean;
	version: string;
};

/** Nothing is loaded from elsewhere, nothing runs that stands in the page, and nothing may frame it. */
const policy = [
	"default-src 'none'",
	"script-src 'self'",
	"style-src 'self'",
	"img-src 'self' data:",
	"font-src 'self'",
	"connect-src 'self'",
	"base-uri 'none'",
	"form-action 'none'",
	"frame-ancestors 'none'",
].join('; ');

const headers = {
	'Content-Security-Policy': policy,
	'X-Content-Type-Options': 'nosniff',
	'X-Frame-Options': 'DENY',
	'Referrer-Policy': 'no-referrer',
	'Cross-Origin-Opener-Policy': 'same-origin',
	'Cross-Origin-Resource-Policy': 'same-origin',
	'Cache-Control': 'no-store',
};

/** `{error}`, with the member of the input that is at fault as `field`; the server sets the status. */
function renderFailure({ diagnostics, location }: Failure): HttpAnswer {
	return jsonAnswer(500, { error: diagnostics, ...(location?.expression === undefined ? {} : { field: location.expression }) });
}

/** The admin API and the console, on an origin of their own. Rejects when the address cannot be bound. */
export function createAdminSurface(
	context: AdminContext,
	{ assets, documented, version, ...listen }: AdminListenOptions,
): Promise<HttpServer> {
	const { limits, metrics, log } = context;
	const files = consoleFiles(assets);
	const reference = documented ? documentationRoutes((origin) => adminOpenApi(version, origin)) : [];
	const routes: AnyRoute[] = [
		...sessionRoutes(context),
		...liveRoutes(context),
		...operationRoutes(context),
		auditExport(context),
		...reference,
		files.assets,
	];
	return createHttpServer({ ...listen, name: 'admin', limits, metrics, log, headers, routes, elsewhere: files.page, renderFailure });
}
