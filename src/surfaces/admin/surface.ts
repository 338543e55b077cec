import { Sessions } from '#access/sessions.ts';
import { SignIn } from '#access/sign-in.ts';
import type { Failure } from '#core/failure.ts';
import type { SurfaceAddress } from '#storage/runtime-file.ts';
import type { Config } from '../../config.ts';
import { documentationRoutes } from '../http/documentation/routes.ts';
import { jsonAnswer } from '../http/json-answer.ts';
import { httpOptions, listening } from '../http/listen.ts';
import type { AnyRoute, HttpAnswer } from '../http/message.ts';
import { createHttpServer, type HttpServer, type HttpServerOptions } from '../http/server.ts';
import type { ServiceNode, Surface } from '../node.ts';
import { auditExport } from './audit-export.ts';
import { bundleConsole, type ConsoleAssets } from './console-assets.ts';
import { consoleFiles } from './console-files.ts';
import type { AdminContext, OperationServices } from './context.ts';
import { Figures } from './live/figures.ts';
import { liveRoutes } from './live/routes.ts';
import { Watchers } from './live/watchers.ts';
import { adminOpenApi } from './openapi.ts';
import { operationRoutes } from './operation-routes.ts';
import { pageFacts } from './page-facts.ts';
import { operationServices } from './services.ts';
import { sessionRoutes } from './session-routes.ts';

export type AdminListenOptions = Pick<HttpServerOptions, 'host' | 'port' | 'sharesPort' | 'tls' | 'trustedProxies' | 'publicOrigin'> & {
	/** The files of the console. They may still be being bundled. */
	assets: Promise<ConsoleAssets>;
	/** True when the API reference is served. */
	documented: boolean;
	version: string;
};

/** The page loads nothing from elsewhere, runs no inline script, and may not be framed. */
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

/** Renders `{error}` and, as `field`, the member of the input that is at fault. The server sets the status. */
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

/** @param echoOf sends C-ECHO to remote AEs for operations; DIMSE implements it */
export function adminSurface(echoOf: (config: Config) => OperationServices['echo']): Surface {
	return { name: 'admin', open: (node) => open(node, echoOf(node.config)) };
}

/**
 * Opens the surface while the console is still being bundled. The console shows the address of FHIR, so the FHIR surface is opened before.
 */
async function open(node: ServiceNode, echo: OperationServices['echo']): Promise<Record<string, SurfaceAddress>> {
	const { config, version, log, metrics, clock, database, audit, gateway, passwords } = node;
	const { limits, ADMIN_HOST: host, ADMIN_PORT: port, API_DOCUMENTATION: documented } = config;
	const sessions = new Sessions(database.people, limits);
	const assets = bundleConsole(node.consolePage, pageFacts(node.addresses['fhir']?.port ?? config.FHIR_PORT));
	assets.catch((error: unknown) => log.error({ err: error }, 'the console could not be bundled'));
	const figures = new Figures({ database: database.people, waitingBySite: () => gateway.waitingBySite(), metrics, clock, log });
	node.onClose(() => figures.close());
	await figures.start(node.line);
	const watchers = new Watchers({ sessions, limits, quotas: node.quotas, metrics, log }, figures);
	const signIn = new SignIn({ database: database.people, sessions, audit, passwords, limits });
	const context = { sessions, signIn, services: operationServices(node, echo), figures, watchers, limits, metrics, log };
	const { sharesPort, tls, trustedProxies, publicOrigin } = httpOptions(node);
	const listen = { host, port, sharesPort, tls, trustedProxies, publicOrigin };
	const opening = createAdminSurface(context, { ...listen, assets, documented, version });
	const addresses = await listening(node, 'admin', host, opening);
	// Streams never end by themselves, so the server cannot wait for them.
	node.onClose(() => watchers.close());
	return addresses;
}
