import { openAccess } from '#access/access.ts';
import { openAudit } from '#access/audit.ts';
import { firstAdministrator } from '#access/first-administrator.ts';
import { Passwords } from '#access/password.ts';
import { openRefusals } from '#access/refusals.ts';
import { BulkJobs } from '#bulk/jobs.ts';
import { systemClock } from '#core/clock.ts';
import { type Closer, openParts } from '#core/closers.ts';
import { ingestThreadsOf } from '#core/ingest-threads.ts';
import type { Log } from '#core/log.ts';
import { type NodeLine, OwnQuotas } from '#core/node-line.ts';
import type { Place } from '#core/place.ts';
import { targetPolicy } from '#core/target-policy.ts';
import { indexedTypes } from '#fhir/search/indexed-types.ts';
import { instanceIndex } from '#imaging/index-instance.ts';
import { InstanceIntake } from '#imaging/intake.ts';
import { storedHead } from '#imaging/stored-head.ts';
import { Ingest } from '#ingest/worker.ts';
import { Renderer } from '#rendering/renderer.ts';
import { watchBudget } from '#retention/budget.ts';
import { keepRetention } from '#retention/keep.ts';
import { Shards } from '#site/shards.ts';
import { watchBackups } from '#storage/backup-age.ts';
import { checkPooling, checkReplicaPooling } from '#storage/check-pooling.ts';
import { Database } from '#storage/database.ts';
import { watchDatabase } from '#storage/database-figures.ts';
import { FeedCounts } from '#storage/feeds/counts.ts';
import { FeedFigures } from '#storage/feeds/figures.ts';
import { type FeedQueue, keepFeedHours } from '#storage/feeds/keep-hours.ts';
import { keepReads } from '#storage/keep-reads.ts';
import { migrate } from '#storage/migrate.ts';
import { FileStore } from '#storage/objects/file-store.ts';
import { FileMover } from '#storage/objects/move-files.ts';
import { boundedStore, configuredObjectStore, objectsFolder, segmentSettings } from '#storage/objects/open.ts';
import { newOwner } from '#storage/objects/owner.ts';
import { Placements, placementsMemory } from '#storage/objects/placements.ts';
import { keepSegments } from '#storage/objects/upkeep.ts';
import { watchOpenConflicts } from '#storage/open-conflicts.ts';
import type { SurfaceAddress } from '#storage/runtime-file.ts';
import { keepSearchIndex } from '#storage/search-index.ts';
import { keepTables } from '#storage/table-upkeep.ts';
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
import { syslogSurface } from '#surfaces/syslog/surface.ts';
import { openTracing } from '#tracing/open.ts';
import { tracedCalls } from '#tracing/traced-calls.ts';
import { WatchedCertificates } from './certificates.ts';
import type { Config } from './config.ts';
import { remoteEcho, remoteSend } from './echo.ts';
import { createMetrics, type Metrics } from './metrics.ts';
import { version } from './version.ts';

/** A running process of a node: its surfaces and everything behind them. */
export interface Service {
	surfaces: Record<string, SurfaceAddress>;
	/** The sign-in of the administrator that the very first start made; shown only once. */
	consoleLogin: { email: string; password: string } | undefined;
	/** The HTTP server library that this machine could load, with its version. */
	httpServer: string;
	metrics: Metrics;
	/** The ingest workers; tests end one. */
	shards: Shards;
	/** Takes the TLS files over if they have changed. */
	renewCertificates(): void;
	/** Stops accepting, answers what is in flight, ends everything that was started. `isRolled`: other processes of the node go on. */
	close(isRolled?: boolean): Promise<void>;
}

/** Whoever starts a process gives it this. */
export interface ServiceOptions {
	databaseUrl: string;
	place: Place;
	passwords?: Passwords;
	/** The metrics of the process, if whoever starts it made them. */
	metrics?: Metrics;
	/** The line to the other processes of the node, where there are any. */
	line?: NodeLine;
}

/** In the order in which they are opened; what is opened first is closed last. */
const surfaces: readonly Surface[] = [
	operationsSurface,
	syslogSurface,
	fhirSurface(dicomWebSurface),
	hl7HttpSurface,
	mppsSurface,
	mllpSurface,
	dimseSurface(procedureStepsOf),
	adminSurface((config, metrics) => ({ echo: remoteEcho(config), send: remoteSend(config, metrics) })),
];

/** Builds the product from its rooms. What was started is stopped again when a later part fails. */
export function startService(config: Config, log: Log, options: ServiceOptions): Promise<Service> {
	return openParts((closers, close) => compose(config, log, options, closers, close));
}

async function compose(
	config: Config,
	log: Log,
	{ databaseUrl, place, passwords = new Passwords(), metrics = createMetrics({ version }), line }: ServiceOptions,
	closers: Closer[],
	closeAll: () => Promise<void>,
): Promise<Service> {
	if (place.migrates) {
		if (config.DATABASE_URL !== undefined) await checkPooling('DATABASE_URL', databaseUrl);
		if (config.DATABASE_READ_URL !== undefined) await checkReplicaPooling('DATABASE_READ_URL', config.DATABASE_READ_URL, log);
		const { applied, newer } = await migrate(databaseUrl);
		if (applied.length > 0) log.info({ applied }, 'database schema brought up to date');
		if (newer.length > 0) log.warn({ newer }, 'the database schema is that of a later release, on which this one works');
	}
	const state = { draining: false, listening: false };
	const addresses: Record<string, SurfaceAddress> = {};
	const leaving: Closer[] = [];
	const draining: Closer[] = [];
	const drainAll = async () => {
		await Promise.all(draining.splice(0).map((closer) => closer()));
	};
	const quotas = line?.quotas ?? new OwnQuotas();
	const certificates = new WatchedCertificates(config, { log, metrics });
	closers.push(() => certificates.close());
	const life = {
		certificates,
		state,
		addresses,
		passwords,
		place,
		line,
		quotas,
		metrics,
		onClose: (closer: Closer) => closers.push(closer),
		onDrain: (closer: Closer) => {
			draining.push(closer);
			closers.push(drainAll);
		},
	};
	const node = await openNode(config, log, databaseUrl, { ...life, onLeave: (closer) => leaving.push(closer) });
	for (const surface of surfaces) Object.assign(addresses, await surface.open(node));
	// A start that fails, for example because a port is taken, would make a password that nobody ever sees.
	const consoleLogin = place.opensNode ? await firstAdministrator(node.database.people, passwords, config.DATA_DIR) : undefined;
	state.listening = true;
	const close = async (isRolled = false): Promise<void> => {
		if (isRolled) for (const closer of leaving) await closer();
		state.draining = true;
		await closeAll();
	};
	const httpServer = `uWebSockets.js ${loadServer().version}`;
	return {
		surfaces: addresses,
		consoleLogin,
		httpServer,
		metrics: node.metrics,
		shards: node.gateway,
		renewCertificates: () => certificates.renew(),
		close,
	};
}

/** Opens what the surfaces share. */
async function openNode(
	config: Config,
	log: Log,
	databaseUrl: string,
	life: Pick<
		ServiceNode,
		'certificates' | 'state' | 'addresses' | 'passwords' | 'place' | 'line' | 'quotas' | 'metrics' | 'onClose' | 'onDrain' | 'onLeave'
	>,
): Promise<ServiceNode> {
	const { limits, DATA_DIR: dataDir, LOG_LEVEL: logLevel, ALLOW_ANY_SOURCE: allowAnySource } = config;
	const { onClose, place, metrics } = life;
	const clock = systemClock;
	const tracing = await openTracing(config, { metrics, log, place, version, onClose });
	const database = new Database({ url: databaseUrl, readUrl: config.DATABASE_READ_URL, limits, metrics, log });
	onClose(() => database.close());
	const reads = await keepReads([database.reads, database.currentReads]);
	onClose(() => reads.stop());
	const comparing = await database.replicaWatch?.start();
	onClose(() => comparing?.stop());
	const audit = openAudit({ connection: database.journal, limits, metrics, log, clock, links: place.index === 0 });
	onClose(() => audit.close());
	const refusals = openRefusals({ audit, limits, log, clock });
	onClose(() => refusals.close());
	const hasReplica = config.DATABASE_READ_URL !== undefined;
	const targets = targetPolicy(config.ALLOWED_TARGETS, config.HOST);
	const own = { database: database.access, dataDir, allowAnySource, targets, hasReplica, limits, log, metrics, clock };
	const access = await openAccess({ ...own, trace: tracedCalls(tracing, 'token-issuer') }, onClose);
	const { directory } = access;
	const writer = newOwner();
	const placements = placementsMemory();
	const store = configuredObjectStore(config, segmentSettings(limits, writer, log, metrics), () => metrics.objectStoreRetries.inc());
	const { objects, health: objectStore } = boundedStore(store, { limits, metrics, log });
	onClose(() => objects.close());
	const threads = ingestThreadsOf(config, place.count);
	const ingesting = { databaseUrl, limits, logLevel: config.LOG_LEVEL, objectsFolder: objectsFolder(config), writer, placements };
	const inPlace = new Ingest(ingesting, store instanceof FileStore ? store : undefined);
	const feeds = countFeeds({ database, metrics, limits, log, onClose }, () => gateway.waitingBySender());
	const gateway = new Shards({
		worker: new URL('../workers/ingest.ts', import.meta.url),
		...threads,
		place: place.index,
		workerData: ingesting,
		inPlace: { process: (deliveries) => inPlace.process(0, deliveries), close: () => inPlace.close() },
		limits,
		waitingMaxOf: (siteId) => partOf(directory.limitsOf(siteId)?.waitingMax, place),
		metrics,
		log,
		tracing,
		nowMs: () => clock.nowMs(),
		onAnswered: (delivery, reply) => feeds.answered(delivery, reply, clock.nowMs()),
	});
	onClose(() => gateway.close(limits.drainMsMax));
	const bulk = await openBulk({ ...life, dataDir, database, workers: threads.workers, logLevel, limits, log });
	const conflicts = await watchOpenConflicts({ database: database.people, metrics, log });
	onClose(() => conflicts.close());
	if (place.index === 0) {
		workForAll({ database, metrics, log, onClose });
		keepObjects({ config, log, metrics, database, writer }, onClose);
		removeByAge({ config, log, metrics, database: database.people, objects }, onClose);
	}
	const imaging = await openImaging({ config, log, metrics, place, objects, placements, onClose }, gateway);
	const consolePage = new URL('./console/index.html', import.meta.url);
	return {
		...life,
		...imaging,
		objectStore,
		config,
		version,
		log,
		clock,
		...access,
		gateway,
		tracing,
		feeds,
		database,
		audit,
		refusals,
		targets,
		traceWebhook: tracedCalls(tracing, 'webhook'),
		bulk,
		consolePage,
	};
}

type BulkMeans = Omit<Parameters<typeof BulkJobs.open>[0], 'worker'> & Pick<ServiceNode, 'onClose'>;

async function openBulk({ onClose, ...means }: BulkMeans): Promise<BulkJobs> {
	const bulk = await BulkJobs.open({ ...means, worker: new URL('../workers/bulk.ts', import.meta.url) });
	onClose(() => bulk.close());
	return bulk;
}

/** Counts what each feed sends, and writes it every few seconds. */
function countFeeds(
	{ database, metrics, limits, log, onClose }: Pick<ServiceNode, 'database' | 'metrics' | 'log' | 'onClose'> & Pick<Config, 'limits'>,
	queues: () => readonly FeedQueue[],
): FeedCounts {
	const counts = new FeedCounts();
	const figures = new FeedFigures({ database: database.people, metrics, feedMetricsMax: limits.feedMetricsMax, log });
	onClose(() => figures.close());
	const hours = keepFeedHours({
		...{ connection: database.journal, counts, queues, log },
		onWritten: (minutes) => figures.written(minutes),
	});
	onClose(() => hours.close());
	return counts;
}

/** Returns this process's part of a limit of the node. */
function partOf(limit: number | undefined, { count }: Place): number | undefined {
	return limit === undefined ? undefined : Math.max(1, Math.floor(limit / count));
}

/** Work in the background that one process of a node does for all. */
function workForAll({ database, metrics, log, onClose }: Pick<ServiceNode, 'database' | 'metrics' | 'log' | 'onClose'>): void {
	const figures = watchDatabase({ database: database.people, metrics, log });
	onClose(() => figures.close());
	const backups = watchBackups({ database: database.people, metrics, log });
	onClose(() => backups.close());
	const tables = keepTables({ database: database.people, log });
	onClose(() => tables.close());
	const searchIndex = keepSearchIndex({ connection: database.indexing, types: indexedTypes, log });
	onClose(() => searchIndex.close());
}

/** Removes what is no longer kept, and measures what is in use. */
function removeByAge(
	{ config, ...means }: Pick<ServiceNode, 'config' | 'log' | 'metrics' | 'objects'> & { database: Database['people'] },
	onClose: ServiceNode['onClose'],
): void {
	const { limits, DATA_DIR: dataDir } = config;
	const retention = keepRetention({ ...means, limits, nowMs: () => systemClock.nowMs() });
	onClose(() => retention.close());
	const budget = watchBudget({ ...means, limits, dataDir });
	onClose(() => budget.close());
}

/** Looks after the segments of a store of files, with segments of its own for what it copies. */
function keepObjects(
	{ config, log, metrics, database, writer }: { config: Config; log: Log; metrics: Metrics; database: Database; writer: string },
	onClose: ServiceNode['onClose'],
): void {
	const { limits } = config;
	const { segmentBytes, segmentedObjectBytesMax, objectUpkeepBytesPerSecondMax: bytesPerSecond } = limits;
	if (bytesPerSecond === 0 || segmentedObjectBytesMax === 0) return;
	// Whatever is a record already stays one.
	const store = configuredObjectStore(config, { ...segmentSettings(limits, writer, log), objectBytesMax: Number.POSITIVE_INFINITY });
	if (!(store instanceof FileStore)) return;
	const means = { store, database: database.people, metrics, log };
	const mover = new FileMover({ ...means, describe: storedHead, objectBytesMax: segmentedObjectBytesMax });
	const kept = keepSegments({
		...{ ...means, owner: writer, segmentBytes, bytesPerSecond },
		furthermore: (pace) => mover.round(pace),
	});
	onClose(() => kept.close());
}

/** Instances lie in the object store before they are indexed, whichever surface they come in by. */
async function openImaging(
	{
		config,
		log,
		metrics,
		place,
		objects,
		placements,
		onClose,
	}: Pick<ServiceNode, 'config' | 'log' | 'metrics' | 'place' | 'objects' | 'onClose'> & { placements: SharedArrayBuffer },
	shards: Shards,
): Promise<Pick<ServiceNode, 'objects' | 'intake' | 'renderer'>> {
	// A store that cannot be asked now is no reason not to take anything else: instances are answered 0xA700 until it can.
	if (place.opensNode)
		await objects.removeTemporary().catch((error: unknown) => log.error({ err: error }, 'the object store cannot be tidied'));
	const index = instanceIndex({ gateway: shards, clock: systemClock, metrics });
	// A bucket answers too late to be waited for in a transaction.
	const carriedObjectBytesMax = objectsFolder(config) === undefined ? 0 : config.limits.carriedObjectBytesMax;
	const { dicomHeaderBytesMax: headerBytesMax, dimseObjectBytesMax } = config.limits;
	const limits = { headerBytesMax, dimseObjectBytesMax, carriedObjectBytesMax };
	const intake = new InstanceIntake({ objects, index, limits, placements: new Placements(placements), log });
	const worker = new URL('../workers/rendering.ts', import.meta.url);
	const renderer = new Renderer({ worker, objects, limits: config.limits, metrics, log });
	onClose(() => renderer.close());
	return { objects, intake, renderer };
}
