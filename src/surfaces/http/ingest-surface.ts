import type { AccessDirectory, KeyGrant } from '#access/directory.ts';
import type { AccessMetrics } from '#access/metrics.ts';
import type { Clock } from '#core/clock.ts';
import { newId, nilId } from '#core/id.ts';
import type { Log } from '#core/log.ts';
import type { DeliveryLimits } from '#record/limits.ts';
import type { DeliveryMetrics } from '#record/metrics.ts';
import type { SiteGateway } from '#site/gateway.ts';
import type { SurfaceAddress } from '#storage/runtime-file.ts';
import type { ServiceNode } from '../node.ts';
import { authenticate, keyChallenge } from './authenticate.ts';
import { withKeyScopes } from './documentation/key-scopes.ts';
import { documentationRoutes } from './documentation/routes.ts';
import { renderJsonFailure } from './json-answer.ts';
import type { HttpLimits } from './limits.ts';
import { httpOptions, listening } from './listen.ts';
import type { HttpRequest } from './message.ts';
import type { HttpMetrics } from './metrics.ts';
import { createHttpServer, type HttpServer, type HttpServerOptions } from './server.ts';

/** Everything that the surfaces that take messages by POST work with. */
export interface IngestContext {
	directory: AccessDirectory;
	gateway: SiteGateway;
	limits: HttpLimits & DeliveryLimits;
	metrics: AccessMetrics & DeliveryMetrics & HttpMetrics;
	log: Log;
	clock: Clock;
}

export type IngestListenOptions = Pick<
	HttpServerOptions,
	'host' | 'port' | 'sharesPort' | 'tls' | 'trustedProxies' | 'publicOrigin' | 'tracing' | 'refused'
> & {
	/** True when the API reference is served. */
	documented: boolean;
	version: string;
};

interface IngestSurface extends Pick<HttpServerOptions, 'name' | 'routes'> {
	openApi(version: string, origin: string): object;
}

/** Opens an origin of routes that take messages, with its API reference. Rejects when the address cannot be bound. */
export function createIngestSurface(
	{ name, routes, openApi }: IngestSurface,
	context: IngestContext,
	{ documented, version, ...server }: IngestListenOptions,
): Promise<HttpServer> {
	const { limits, metrics, log } = context;
	const reference = documented ? documentationRoutes((origin) => withKeyScopes(openApi(version, origin), routes), welcomeOf(routes)) : [];
	return createHttpServer({
		...server,
		name,
		keyed: true,
		admit: (request) => senderOf(context, request),
		limits,
		metrics,
		log,
		routes: [...routes, ...reference],
		renderFailure: renderJsonFailure,
	});
}

/** The context and the listen options of a surface that takes messages by POST. */
type OnNode = [context: IngestContext & Pick<ServiceNode, 'metrics'>, listen: IngestListenOptions];

/** Opens a surface that takes messages by POST on its port, with what it works with from the node. A port that is off opens nothing. */
export async function openIngest(
	node: ServiceNode,
	name: string,
	port: number | 'off',
	create: (...onNode: OnNode) => Promise<HttpServer>,
): Promise<Record<string, SurfaceAddress>> {
	return port === 'off' ? {} : listening(node, name, node.config.HOST, create(...ingestOn(node, port)));
}

function ingestOn(node: ServiceNode, port: number): OnNode {
	const { config, directory, gateway, metrics, log, clock, version } = node;
	const { host, sharesPort, tls, trustedProxies, publicOrigin, tracing, refused } = httpOptions(node);
	return [
		{ directory, gateway, limits: config.limits, metrics, log, clock },
		{ host, port, sharesPort, tls, trustedProxies, publicOrigin, tracing, refused, documented: config.API_DOCUMENTATION, version },
	];
}

/** @throws Failure `unauthenticated` */
export function senderOf(context: IngestContext, request: Pick<HttpRequest, 'header' | 'caller'>): KeyGrant {
	return authenticate(context, request, { diagnostics: 'a valid X-API-Key header is required', challenge: keyChallenge });
}

/** Returns the members that are the same for every message posted with a key. */
export function postedBy(
	{ siteId, keyId, settings }: KeyGrant,
	{ clock }: IngestContext,
	{ trace }: Pick<HttpRequest, 'trace'>,
	bytes: Uint8Array,
) {
	const receivedAtMs = clock.nowMs();
	return { id: newId(receivedAtMs), siteId, clientId: nilId, source: keyId, receivedAtMs, settings, bytes, ...(trace && { trace }) };
}

/** Tells people who open the origin in a browser what it takes. */
function welcomeOf(routes: IngestSurface['routes']): string {
	return routes.map(({ method, pattern }) => `${method} ${pattern}`).join(', ');
}
