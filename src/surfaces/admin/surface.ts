import { SignInProvider } from '#access/provider/provider.ts';
import { ProviderSignIn } from '#access/provider/provider-sign-in.ts';
import { SecondFactors } from '#access/second-factor/second-factors.ts';
import { SecretBox } from '#access/second-factor/secret-box.ts';
import { Sessions } from '#access/sessions.ts';
import { SignIn } from '#access/sign-in.ts';
import { watchSilentFeeds } from '#administration/feeds/watch-silence.ts';
import { notificationMeans } from '#alerts/means.ts';
import { activeAlerts } from '#alerts/recorder.ts';
import type { Failure } from '#core/failure.ts';
import type { SurfaceAddress } from '#storage/runtime-file.ts';
import { nodeNameOf, signInProviderOf } from '../../config.ts';
import { documentationRoutes } from '../http/documentation/routes.ts';
import { jsonAnswer } from '../http/json-answer.ts';
import { httpOptions, listening, operatorNames } from '../http/listen.ts';
import type { AnyRoute, HttpAnswer } from '../http/message.ts';
import { createHttpServer, type HttpServer, type HttpServerOptions } from '../http/server.ts';
import type { ServiceNode, Surface } from '../node.ts';
import { auditExport } from './audit-export.ts';
import { bundleConsole, type ConsoleAssets } from './console-assets.ts';
import { consoleFiles } from './console-files.ts';
import type { AdminContext } from './context.ts';
import { Figures } from './live/figures.ts';
import { liveRoutes } from './live/routes.ts';
import { Watchers } from './live/watchers.ts';
import { nodeIdOf, openNotifications } from './notifications.ts';
import { adminOpenApi } from './openapi.ts';
import { fileRoutes, operationRoutes } from './operation-routes.ts';
import { pageFacts } from './page-facts.ts';
import { pictureRoutes } from './picture-routes.ts';
import { providerRoutes } from './provider-routes.ts';
import { secondFactorRoutes } from './second-factor-routes.ts';
import { operationServices } from './services.ts';
import { sessionRoutes } from './session-routes.ts';
import { uploadRoute } from './upload-route.ts';

export type AdminListenOptions = Pick<
	HttpServerOptions,
	'host' | 'port' | 'sharesPort' | 'tls' | 'trustedProxies' | 'publicOrigin' | 'ownNames'
> & {
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
		...providerRoutes(context),
		...secondFactorRoutes(context),
		...liveRoutes(context),
		...operationRoutes(context),
		...fileRoutes(context),
		uploadRoute(context),
		auditExport(context),
		...pictureRoutes(context),
		...reference,
		files.assets,
	];
	return createHttpServer({ ...listen, name: 'admin', limits, metrics, log, headers, routes, elsewhere: files.page, renderFailure });
}

/** @param remotes calls remote AEs for operations; DIMSE implements it */
export function adminSurface(remotes: Parameters<typeof operationServices>[1]): Surface {
	return { name: 'admin', open: (node) => open(node, remotes) };
}

/**
 * Opens the surface while the console is still being bundled. The console shows the ports of the others, so they are opened before.
 */
async function open(node: ServiceNode, remotes: Parameters<typeof operationServices>[1]): Promise<Record<string, SurfaceAddress>> {
	const { config, version, log, metrics, clock, database, audit, refusals, gateway, intake, passwords } = node;
	const { limits, ADMIN_HOST: host, ADMIN_PORT: port, API_DOCUMENTATION: documented } = config;
	const sessions = new Sessions(database.people, limits);
	const assets = bundleConsole(node.consolePage, pageFacts(node.addresses));
	assets.catch((error: unknown) => log.error({ err: error }, 'the console could not be bundled'));
	const figures = new Figures({
		node: nodeNameOf(config),
		active: () => activeAlerts(database.people, nodeIdOf(config)),
		database: database.people,
		waitingBySite: () => gateway.waitingBySite(),
		metrics,
		clock,
		log,
	});
	node.onClose(() => figures.close());
	const means = notificationMeans(config, () => clock.nowMs(), node.traceWebhook);
	openNotifications(node, figures, means);
	if (node.place.index === 0) {
		const silence = watchSilentFeeds({ database: database.people, nowMs: () => clock.nowMs(), metrics, log });
		node.onClose(() => silence.close());
	}
	await figures.start(node.line);
	const watchers = new Watchers({ sessions, limits, quotas: node.quotas, metrics, log }, figures);
	const localSignIn = config.LOCAL_SIGN_IN;
	const box = new SecretBox({ key: config.SECOND_FACTOR_KEY, dataDir: config.DATA_DIR });
	const secondFactors = new SecondFactors({ database: database.people, audit, box, clock });
	const signIn = new SignIn({ database: database.people, sessions, audit, passwords, limits, localSignIn, secondFactors });
	const providerSignIn = providerSignInOf(node);
	const ways = { providerSignIn, localSignIn, adminUrl: config.ADMIN_URL };
	const context = {
		sessions,
		signIn,
		...ways,
		services: operationServices(node, remotes, means),
		figures,
		watchers,
		limits,
		metrics,
		log,
		refusals,
		intake,
	};
	const { sharesPort, tls, trustedProxies, publicOrigin } = httpOptions(node);
	const listen = { host, port, sharesPort, tls, trustedProxies, publicOrigin, ownNames: operatorNames(config, host) };
	const opening = createAdminSurface(context, { ...listen, assets, documented, version });
	const addresses = await listening(node, 'admin', host, opening);
	// Streams never end by themselves, so the server cannot wait for them.
	node.onDrain(() => watchers.close());
	return addresses;
}

/** The secret is read when the service starts; a new one needs a restart. */
function providerSignInOf({ config, database, audit, log, clock }: ServiceNode): ProviderSignIn | undefined {
	const settings = signInProviderOf(config);
	if (settings === undefined) return undefined;
	const { limits } = config;
	const provider = new SignInProvider(settings, { limits, log, clock });
	return new ProviderSignIn({ provider, database: database.people, audit, limits, log });
}
