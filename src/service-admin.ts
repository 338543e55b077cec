import { openAudit } from '#access/audit.ts';
import { Sessions } from '#access/sessions.ts';
import { SignIn } from '#access/sign-in.ts';
import type { Clock } from '#core/clock.ts';
import type { Log } from '#core/log.ts';
import type { Metrics } from '#core/metrics.ts';
import type { Shards } from '#site/shards.ts';
import type { Connection } from '#storage/connection.ts';
import type { SurfaceAddress } from '#storage/runtime-file.ts';
import { bundleConsole } from '#surfaces/admin/console-assets.ts';
import { Figures } from '#surfaces/admin/live/figures.ts';
import { Watchers } from '#surfaces/admin/live/watchers.ts';
import { type AdminListenOptions, createAdminSurface } from '#surfaces/admin/surface.ts';
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
	shards: Pick<Shards, 'waitingBySite'>;
	closers: (() => Promise<void> | void)[];
}

/** The admin API and the console, which is bundled meanwhile. */
export async function openAdmin(
	{ config, log, metrics, clock, people, databaseUrl, shards, closers }: AdminParts,
	http: Pick<AdminListenOptions, 'tls' | 'trustedProxies'>,
): Promise<SurfaceAddress> {
	const { limits } = config;
	const audit = openAudit({ databaseUrl, log, clock });
	closers.push(() => audit.close());
	const sessions = new Sessions(people, limits);
	const assets = bundleConsole(new URL('./console/index.html', import.meta.url));
	assets.catch((error: unknown) => log.error({ err: error }, 'the console could not be bundled'));
	const figures = new Figures({ database: people, waitingBySite: () => shards.waitingBySite(), metrics, clock, log });
	await figures.start();
	closers.push(() => figures.close());
	const watchers = new Watchers({ sessions, limits, metrics, log }, figures);
	const signIn = new SignIn({ database: people, sessions, audit, limits });
	const listen = { ...http, host: config.ADMIN_HOST, port: config.ADMIN_PORT, assets };
	const server = await createAdminSurface({ sessions, signIn, figures, watchers, limits, metrics, log, version }, listen);
	closers.push(() => server.close(limits.drainMsMax));
	// Streams have no end of their own that the server could wait for.
	closers.push(() => watchers.close());
	return { host: config.ADMIN_HOST, port: server.port, tls: server.tls };
}
