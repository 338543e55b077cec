import { openAudit } from '#access/audit.ts';
import { Sessions } from '#access/sessions.ts';
import { SignIn } from '#access/sign-in.ts';
import type { Clock } from '#core/clock.ts';
import type { Log } from '#core/log.ts';
import type { Metrics } from '#core/metrics.ts';
import type { Connection } from '#storage/connection.ts';
import { bundleConsole } from '#surfaces/admin/console-assets.ts';
import { type AdminListenOptions, createAdminSurface } from '#surfaces/admin/surface.ts';
import type { HttpServer } from '#surfaces/http/server.ts';
import type { Config } from './config.ts';
import { version } from './version.ts';

/** What the admin surface is made of. */
export interface AdminParts {
	config: Config;
	log: Log;
	metrics: Metrics;
	clock: Clock;
	/** By which people sign in. */
	people: Connection;
	databaseUrl: string;
	closers: (() => Promise<void> | void)[];
}

/** The admin API and the console, which is bundled meanwhile. */
export function openAdmin(
	{ config, log, metrics, clock, people, databaseUrl, closers }: AdminParts,
	http: Pick<AdminListenOptions, 'tls' | 'trustedProxies'>,
): Promise<HttpServer> {
	const { limits } = config;
	const audit = openAudit({ databaseUrl, log, clock });
	closers.push(() => audit.close());
	const sessions = new Sessions(people, limits);
	const assets = bundleConsole(new URL('./console/index.html', import.meta.url));
	assets.catch((error: unknown) => log.error({ err: error }, 'the console could not be bundled'));
	const signIn = new SignIn({ database: people, sessions, audit, limits });
	const listen = { ...http, host: config.ADMIN_HOST, port: config.ADMIN_PORT, assets };
	return createAdminSurface({ sessions, signIn, limits, metrics, log, version }, listen);
}
