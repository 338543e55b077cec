import type { Audit } from '#access/audit.ts';
import { Sessions } from '#access/sessions.ts';
import { SignIn } from '#access/sign-in.ts';
import { ReplayRuns } from '#administration/replay-runs.ts';
import type { Clock } from '#core/clock.ts';
import type { Log } from '#core/log.ts';
import { type Metrics, messageTypeLabel } from '#core/metrics.ts';
import type { Delivery, ReplyTo } from '#record/delivery.ts';
import type { Shards } from '#site/shards.ts';
import type { Database } from '#storage/database.ts';
import { openEntities } from '#storage/entities/index.ts';
import type { ObjectStore } from '#storage/objects/object-store.ts';
import type { SurfaceAddress } from '#storage/runtime-file.ts';
import { bundleConsole } from '#surfaces/admin/console-assets.ts';
import { Figures } from '#surfaces/admin/live/figures.ts';
import { Watchers } from '#surfaces/admin/live/watchers.ts';
import type { OperationServices } from '#surfaces/admin/operation-routes.ts';
import { type AdminListenOptions, createAdminSurface } from '#surfaces/admin/surface.ts';
import { deliverSoon } from '#surfaces/http/deliver.ts';
import type { Config } from './config.ts';
import { version } from './version.ts';

/** What the admin surface is made of. */
export interface AdminParts {
	config: Config;
	log: Log;
	metrics: Metrics;
	clock: Clock;
	database: Database;
	audit: Audit;
	shards: Shards;
	objects: ObjectStore;
	closers: (() => Promise<void> | void)[];
}

/** The admin API and the console, which is bundled meanwhile and shows people where FHIR is. */
export async function openAdmin(
	parts: AdminParts,
	http: Pick<AdminListenOptions, 'tls' | 'trustedProxies'>,
	fhirPort: number,
): Promise<SurfaceAddress> {
	const { config, log, metrics, clock, database, audit, shards, closers } = parts;
	const { limits } = config;
	const sessions = new Sessions(database.people, limits);
	const assets = bundleConsole(new URL('./console/index.html', import.meta.url), { 'fhir-port': fhirPort });
	assets.catch((error: unknown) => log.error({ err: error }, 'the console could not be bundled'));
	const figures = new Figures({ database: database.people, waitingBySite: () => shards.waitingBySite(), metrics, clock, log });
	figures.start();
	closers.push(() => figures.close());
	const watchers = new Watchers({ sessions, limits, metrics, log }, figures);
	const signIn = new SignIn({ database: database.people, sessions, audit, limits });
	const services = openServices(parts);
	const listen = { ...http, host: config.ADMIN_HOST, port: config.ADMIN_PORT, assets, documented: config.API_DOCUMENTATION, version };
	const server = await createAdminSurface({ sessions, signIn, services, figures, watchers, limits, metrics, log }, listen);
	closers.push(() => server.close(limits.drainMsMax));
	// Streams have no end of their own that the server could wait for.
	closers.push(() => watchers.close());
	return { host: config.ADMIN_HOST, port: server.port, tls: server.tls };
}

/** What operations work with. The unit of work takes a moment to make, and nobody may ask for it. */
function openServices({ config, log, metrics, database, clock, shards, objects, closers }: AdminParts): () => Promise<OperationServices> {
	const { limits } = config;
	let orm: Awaited<ReturnType<typeof openEntities>> | undefined;
	closers.push(() => orm?.close(true));
	const replayRuns = new ReplayRuns(log);
	closers.push(() => replayRuns.close());
	const deliver = async <Sent extends Delivery>(delivery: Sent): Promise<ReplyTo<Sent>> => {
		const reply = await deliverSoon({ gateway: shards, limits }, delivery);
		if (delivery.surface === 'replay' && delivery.kind.startsWith('hl7')) {
			const { messageType, outcome, failure } = reply;
			metrics.hl7Messages.inc({ surface: 'replay', type: messageTypeLabel(messageType), outcome });
			if (failure !== undefined) metrics.hl7Refusals.inc({ surface: 'replay', code: failure.code });
		}
		return reply;
	};
	const open = async (): Promise<OperationServices> => {
		orm = await openEntities(database.people);
		return {
			em: orm.em,
			database: database.people,
			nowMs: () => clock.nowMs(),
			allowAnySource: config.ALLOW_ANY_SOURCE,
			deliver,
			objects,
			headerBytesMax: limits.dicomHeaderBytesMax,
			limits,
			reader: database.currentReads,
			replayRuns,
		};
	};
	let services: Promise<OperationServices> | undefined;
	return () => {
		services ??= open().catch((error: unknown) => {
			services = undefined;
			throw error;
		});
		return services;
	};
}
