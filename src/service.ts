import { mkdirSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { openAccess } from '#access/access.ts';
import { openAudit } from '#access/audit.ts';
import { Passwords } from '#access/password.ts';
import { firstAdministrator } from '#access/sign-in.ts';
import { BulkJobs } from '#bulk/jobs.ts';
import { systemClock } from '#core/clock.ts';
import type { Log } from '#core/log.ts';
import { indexedTypes } from '#fhir/search/indexed-types.ts';
import { instanceIndex } from '#imaging/index-instance.ts';
import { InstanceIntake } from '#imaging/intake.ts';
import { Shards } from '#site/shards.ts';
import { Database } from '#storage/database.ts';
import { startEmbeddedDatabase } from '#storage/embedded/embedded-database.ts';
import { migrate } from '#storage/migrate.ts';
import { configuredObjectStore, objectsFolder } from '#storage/objects/open.ts';
import { watchOpenConflicts } from '#storage/open-conflicts.ts';
import { keepPartitions } from '#storage/partitions.ts';
import { removeRuntimeFile, type SurfaceAddress, writeRuntimeFile } from '#storage/runtime-file.ts';
import { keepSearchIndex } from '#storage/search-index.ts';
import { adminSurface } from '#surfaces/admin/surface.ts';
import { dicomWebSurface } from '#surfaces/dicomweb/surface.ts';
import { dimseSurface } from '#surfaces/dimse/surface.ts';
import { fhirSurface } from '#surfaces/fhir/surface.ts';
import { hl7HttpSurface } from '#surfaces/hl7-http/surface.ts';
import { loadServer } from '#surfaces/http/load.ts';
import { mllpSurface } from '#surfaces/mllp/surface.ts';
import { mppsSurface, procedureStepsOf } from '#surfaces/mpps/surface.ts';
import type { ServiceNode, Surface } from '#surfaces/node.ts';
import { operationsSurface } from '#surfaces/operations/surface.ts';
import type { Config } from './config.ts';
import { remoteEcho } from './echo.ts';
import { createMetrics, type Metrics } from './metrics.ts';
import { version } from './version.ts';

/** A running node. */
export interface Service {
	surfaces: Record<string, SurfaceAddress>;
	/** The sign-in of the administrator that the very first start made; shown only once. */
	consoleLogin: { email: string; password: string } | undefined;
	databaseUrl: string;
	/** True if the database is the embedded one. */
	embedded: boolean;
	metrics: Metrics;
	/** The ingest workers; tests end one. */
	shards: Shards;
	/** Stops accepting, answers what is in flight, ends everything that was started; the embedded database last. */
	close(): Promise<void>;
}

type Closer = () => Promise<void> | void;

/** In the order in which they are opened; what is opened first is closed last. */
const surfaces: readonly Surface[] = [
	operationsSurface,
	fhirSurface(dicomWebSurface),
	hl7HttpSurface,
	mppsSurface,
	adminSurface(remoteEcho),
	mllpSurface,
	dimseSurface(procedureStepsOf),
];

/** Builds the product from its rooms. What was started is stopped again when a later part fails. */
export async function startService(config: Config, log: Log, passwords = new Passwords()): Promise<Service> {
	const closers: Closer[] = [];
	const close = async (): Promise<void> => {
		for (const closer of closers.splice(0).reverse()) await closer();
	};
	try {
		return await compose(config, log, passwords, closers, close);
	} catch (error) {
		await close();
		throw error;
	}
}

async function compose(config: Config, log: Log, passwords: Passwords, closers: Closer[], close: () => Promise<void>): Promise<Service> {
	mkdirSync(config.DATA_DIR, { recursive: true });
	const databaseUrl = config.DATABASE_URL ?? (await openEmbedded(config, log, closers));
	const { applied } = await migrate(databaseUrl);
	if (applied.length > 0) log.info({ applied }, 'database schema brought up to date');
	const state = { draining: false, listening: false };
	const addresses: Record<string, SurfaceAddress> = {};
	const node = await openNode(config, log, databaseUrl, { state, addresses, passwords, onClose: (closer) => closers.push(closer) });
	for (const surface of surfaces) Object.assign(addresses, await surface.open(node));
	// A start that fails, for example because a port is taken, would make a password that nobody ever sees.
	const consoleLogin = await firstAdministrator(node.database.people, passwords);
	state.listening = true;
	const httpServer = `uWebSockets.js ${loadServer().version}`;
	writeRuntimeFile(config.DATA_DIR, { pid: process.pid, version, httpServer, databaseUrl, surfaces: addresses });
	closers.push(() => {
		state.draining = true;
		removeRuntimeFile(config.DATA_DIR);
	});
	const { metrics, gateway: shards } = node;
	return { surfaces: addresses, consoleLogin, databaseUrl, embedded: config.DATABASE_URL === undefined, metrics, shards, close };
}

/** Opens what the surfaces share. */
async function openNode(
	config: Config,
	log: Log,
	databaseUrl: string,
	life: Pick<ServiceNode, 'state' | 'addresses' | 'passwords' | 'onClose'>,
): Promise<ServiceNode> {
	const { limits, DATA_DIR: dataDir, LOG_LEVEL: logLevel, ALLOW_ANY_SOURCE: allowAnySource } = config;
	const { onClose } = life;
	const metrics = createMetrics({ version });
	const clock = systemClock;
	const database = new Database({ url: databaseUrl, readUrl: config.DATABASE_READ_URL, limits, metrics, log });
	onClose(() => database.close());
	const audit = openAudit({ connection: database.journal, limits, log, clock });
	onClose(() => audit.close());
	const hasReplica = config.DATABASE_READ_URL !== undefined;
	const own = { database: database.access, dataDir, allowAnySource, hasReplica, limits, log, metrics, clock };
	const access = await openAccess(own, onClose);
	const { directory } = access;
	const workers = config.WORKERS ?? Math.max(1, availableParallelism() - 1);
	const gateway = new Shards({
		worker: new URL('../workers/ingest.ts', import.meta.url),
		workers,
		workerData: { databaseUrl, limits, logLevel: config.LOG_LEVEL, objectsFolder: objectsFolder(config) },
		limits,
		waitingMaxOf: (siteId) => directory.limitsOf(siteId)?.waitingMax,
		metrics,
		log,
		nowMs: () => clock.nowMs(),
	});
	onClose(() => gateway.close(limits.drainMsMax));
	const bulkWorker = new URL('../workers/bulk.ts', import.meta.url);
	const bulk = await BulkJobs.open({ dataDir, database, worker: bulkWorker, workers, logLevel, limits, metrics, log });
	onClose(() => bulk.close());
	const conflicts = await watchOpenConflicts({ database: database.people, metrics, log });
	onClose(() => conflicts.close());
	const partitions = keepPartitions({ database: database.people, log });
	onClose(() => partitions.close());
	const searchIndex = keepSearchIndex({ connection: database.indexing, types: indexedTypes, log });
	onClose(() => searchIndex.close());
	const imaging = await openImaging(config, log, metrics, gateway);
	const consolePage = new URL('./console/index.html', import.meta.url);
	return { ...life, ...imaging, config, version, log, metrics, clock, ...access, gateway, database, audit, bulk, consolePage };
}

/** Instances lie in the object store before they are indexed, whichever surface they come in by. */
async function openImaging(config: Config, log: Log, metrics: Metrics, shards: Shards): Promise<Pick<ServiceNode, 'objects' | 'intake'>> {
	const objects = configuredObjectStore(config);
	// A store that cannot be asked now is no reason not to take anything else: instances are answered 0xA700 until it can.
	await objects.removeTemporary().catch((error: unknown) => log.error({ err: error }, 'the object store cannot be tidied'));
	const index = instanceIndex({ gateway: shards, clock: systemClock, metrics });
	// A bucket answers too late to be waited for in a transaction.
	const carriedObjectBytesMax = objectsFolder(config) === undefined ? 0 : config.limits.carriedObjectBytesMax;
	const { dicomHeaderBytesMax: headerBytesMax, dimseObjectBytesMax } = config.limits;
	const limits = { headerBytesMax, dimseObjectBytesMax, carriedObjectBytesMax };
	return { objects, intake: new InstanceIntake({ objects, index, limits, log }) };
}

async function openEmbedded(config: Config, log: Log, closers: Closer[]): Promise<string> {
	const database = await startEmbeddedDatabase({
		dataDir: config.DATA_DIR,
		onCrash: (error) =>
			log.error(
				error ? { err: error } : {},
				error ? 'the embedded database does not start again' : 'the embedded database ended and is started again',
			),
	});
	closers.push(() => database.stop());
	return database.url;
}
