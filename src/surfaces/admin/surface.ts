import type { Failure } from '#core/failure.ts';
import type { Limits } from '#core/limits.ts';
import type { Log } from '#core/log.ts';
import type { Metrics } from '#core/metrics.ts';
import { jsonAnswer } from '../http/json-answer.ts';
import type { HttpAnswer } from '../http/message.ts';
import { createHttpServer, type HttpServer, type HttpServerOptions } from '../http/server.ts';
import type { ConsoleAssets } from './console-assets.ts';
import { consoleFiles } from './console-files.ts';

export interface AdminContext {
	limits: Limits;
	metrics: Metrics;
	log: Log;
	/** The files of the console; may still be bundled. */
	assets: Promise<ConsoleAssets>;
}

export type AdminListenOptions = Pick<HttpServerOptions, 'host' | 'port' | 'tls' | 'trustedProxies'>;

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

/** `{error}`; the server sets the status. */
function renderFailure(failure: Failure): HttpAnswer {
	return jsonAnswer(500, { error: failure.diagnostics });
}

/** The admin API and the console, on an origin of their own. Rejects when the address cannot be bound. */
export function createAdminSurface({ assets, ...context }: AdminContext, listen: AdminListenOptions): Promise<HttpServer> {
	const files = consoleFiles(assets);
	return createHttpServer({ ...listen, ...context, name: 'admin', headers, routes: [files.assets], elsewhere: files.page, renderFailure });
}
