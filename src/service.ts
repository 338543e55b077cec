import { mkdirSync, readFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { type Audit, openAudit } from '#access/audit.ts';
import { openDirectory } from '#access/database-directory.ts';
import { firstAdministrator } from '#access/sign-in.ts';
import { BulkJobs } from '#bulk/jobs.ts';
import { addressSet, parseRange } from '#core/address.ts';
import { systemClock } from '#core/clock.ts';
import type { Log } from '#core/log.ts';
import { createMetrics, type Metrics } from '#core/metrics.ts';
import { fhirOpenApi } from '#fhir/openapi.ts';
import { createArchive } from '#imaging/archive.ts';
import { instanceIndex } from '#imaging/index-instance.ts';
import { InstanceIntake } from '#imaging/intake.ts';
import { Shards } from '#site/shards.ts';
import { CommitmentTable } from '#storage/commitments.ts';
import { Database } from '#storage/database.ts';
import { startEmbeddedDatabase } from '#storage/embedded/embedded-database.ts';
import { migrate } from '#storage/migrate.ts';
import type { ObjectStore } from '#storage/objects/object-store.ts';
import { configuredObjectStore, objectsFolder } from '#storage/objects/open.ts';
import { watchOpenConflicts } from '#storage/open-conflicts.ts';
import { keepPartitions } from '#storage/partitions.ts';
import { ResourceReads } from '#storage/resource-reads.ts';
import { removeRuntimeFile, type SurfaceAddress, writeRuntimeFile } from '#storage/runtime-file.ts';
import { readCursorKey } from '#storage/statements/administrative/read-access.ts';
import { createUnmatchedLog } from '#storage/unmatched.ts';
import { AccessNotes } from '#surfaces/dicomweb/access-notes.ts';
import { dicomWebOpenApi } from '#surfaces/dicomweb/openapi.ts';
import { dicomWebRoutes } from '#surfaces/dicomweb/routes.ts';
import { isDicomWeb } from '#surfaces/dicomweb/urls.ts';
import { associationEvent, dimseQueryEvent } from '#surfaces/dimse/audit.ts';
import { Commitments } from '#surfaces/dimse/commitment-reports.ts';
import { createDimseSurface } from '#surfaces/dimse/listener.ts';
import { bulkRoutes } from '#surfaces/fhir/bulk.ts';
import { Cursors } from '#surfaces/fhir/cursor.ts';
import { fhirRoutes, renderFhirFailure } from '#surfaces/fhir/routes.ts';
import { createHl7HttpSurface } from '#surfaces/hl7-http/surface.ts';
import { documentationRoutes } from '#surfaces/http/documentation/routes.ts';
import { renderJsonFailure } from '#surfaces/http/json-answer.ts';
import { loadServer } from '#surfaces/http/load.ts';
import type { AnyRoute } from '#surfaces/http/message.ts';
import { createHttpServer, type HttpServer } from '#surfaces/http/server.ts';
import { createMllpSurface } from '#surfaces/mllp/listener.ts';
import { createProcedureSteps } from '#surfaces/mpps/procedure-steps.ts';
import { createMppsSurface } from '#surfaces/mpps/surface.ts';
import { createOperationsSurface } from '#surfaces/operations/surface.ts';
import type { TcpListenOptions } from '#surfaces/tcp/reception.ts';
import type { Config } from './config.ts';
import { openAdmin } from './service-admin.ts';
import { version } from './version.ts';

/** A running node. */
export interface Service {
	surfaces: Record<string, SurfaceAddress>;
	/** Of the administrator that the very first start made; told this once. */
	consoleLogin: { email: string; password: string } | undefined;
	databaseUrl: string;
	/** Whether the database is the embedded one. */
	embedded: boolean;
	metrics: Metrics;
	/** The ingest workers; tests end one. */
	shards: Shards;
	/** Stops accepting, answers what is in flight, ends everything that was started; the embedded database last. */
	close(): Promise<void>;
}

type Closer = () => Promise<void> | void;

/** Builds the product from its rooms. What was started is stopped again when a later part fails. */
export async function startService(config: Config, log: Log): Promise<Service> {
	const closers: Closer[] = [];
	const close = async (): Promise<void> => {
		for (const closer of closers.splice(0).reverse()) await closer();
	};
	try {
		return await compose(config, log, closers, close);
	} catch (error) {
		await close();
		throw error;
	}
}

async function compose(config: Config, log: Log, closers: Closer[], close: () => Promise<void>): Promise<Service> {
	mkdirSync(config.DATA_DIR, { recursive: true });
	const databaseUrl = config.DATABASE_URL ?? (await openEmbedded(config, log, closers));
	const { applied } = await migrate(databaseUrl);
	if (applied.length > 0) log.info({ applied }, 'database schema brought up to date');
	const { limits } = config;
	const metrics = createMetrics({ version });
	const database = new Database({ url: databaseUrl, readUrl: config.DATABASE_READ_URL, limits, metrics, log });
	closers.push(() => database.close());
	const clock = systemClock;
	const audit = openAudit({ connection: database.journal, log, clock });
	closers.push(() => audit.close());
	const staleMsMax = config.DATABASE_READ_URL === undefined ? limits.accessStaleMsMax : limits.accessStaleReplicaMsMax;
	const { ALLOW_ANY_SOURCE: allowAnySource } = config;
	const directory = await openDirectory({ database: database.access, allowAnySource, staleMsMax, log, metrics, clock });
	closers.push(() => directory.close());
	const workers = config.WORKERS ?? Math.max(1, availableParallelism() - 1);
	const shards = new Shards({
		worker: new URL('../workers/ingest.ts', import.meta.url),
		workers,
		workerData: { databaseUrl, limits, logLevel: config.LOG_LEVEL, objectsFolder: objectsFolder(config) },
		limits,
		waitingMaxOf: (siteId) => directory.limitsOf(siteId)?.waitingMax,
		metrics,
		log,
		nowMs: () => clock.nowMs(),
	});
	closers.push(() => shards.close(limits.drainMsMax));
	const bulk = await BulkJobs.open({
		dataDir: config.DATA_DIR,
		database,
		worker: new URL('../workers/bulk.ts', import.meta.url),
		workers,
		logLevel: config.LOG_LEVEL,
		limits,
		metrics,
		log,
	});
	closers.push(() => bulk.close());
	const conflicts = await watchOpenConflicts({ database: database.people, metrics, log });
	closers.push(() => conflicts.close());
	const partitions = keepPartitions({ database: database.people, log });
	closers.push(() => partitions.close());
	const consoleLogin = await firstAdministrator(database.people);
	const state = { draining: false, listening: false };
	const { objects, intake } = await openImaging(config, log, metrics, shards, directory);
	const parts: Parts = {
		config,
		log,
		metrics,
		clock,
		directory,
		shards,
		database,
		audit,
		bulk,
		objects,
		intake,
		state,
		closers,
	};
	const surfaces = await listen(parts);
	state.listening = true;
	writeRuntimeFile(config.DATA_DIR, {
		pid: process.pid,
		version,
		httpServer: `uWebSockets.js ${loadServer().version}`,
		databaseUrl,
		surfaces,
	});
	closers.push(() => {
		state.draining = true;
		removeRuntimeFile(config.DATA_DIR);
	});
	return { surfaces, consoleLogin, databaseUrl, embedded: config.DATABASE_URL === undefined, metrics, shards, close };
}

/** Instances lie in the object store before they are indexed, whichever surface they come in by. */
async function openImaging(
	config: Config,
	log: Log,
	metrics: Metrics,
	shards: Shards,
	directory: Parts['directory'],
): Promise<Pick<Parts, 'objects' | 'intake'>> {
	const objects = configuredObjectStore(config);
	// A store that cannot be asked now is no reason not to take anything else: instances are answered 0xA700 until it can.
	await objects.removeTemporary().catch((error: unknown) => log.error({ err: error }, 'the object store cannot be tidied'));
	const defaultAuthority = (siteId: string) => directory.defaultAuthority(siteId);
	const index = instanceIndex({ gateway: shards, clock: systemClock, metrics, defaultAuthority });
	// A bucket answers too late to be waited for in a transaction.
	const carriedObjectBytesMax = objectsFolder(config) === undefined ? 0 : config.limits.carriedObjectBytesMax;
	const limits = { headerBytesMax: config.limits.dicomHeaderBytesMax, carriedObjectBytesMax };
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

interface Parts {
	config: Config;
	log: Log;
	metrics: Metrics;
	clock: typeof systemClock;
	directory: Awaited<ReturnType<typeof openDirectory>>;
	shards: Shards;
	database: Database;
	audit: Audit;
	bulk: BulkJobs;
	objects: ObjectStore;
	intake: InstanceIntake;
	state: { draining: boolean; listening: boolean };
	closers: Closer[];
}

/** Opens the surfaces; the operations surface first and so closed last: it tells that the node is draining. */
async function listen(parts: Parts): Promise<Record<string, SurfaceAddress>> {
	const { config, log, metrics, directory, shards, database, bulk, closers } = parts;
	const { limits } = config;
	const surfaces: Record<string, SurfaceAddress> = {};
	const opened = (name: string, host: string, server: HttpServer) => {
		closers.push(() => server.close(limits.drainMsMax));
		surfaces[name] = { host, port: server.port, tls: server.tls };
	};
	opened('ops', config.OPS_HOST, await openOperations(parts));
	const tls = config.TLS_CERT_FILE && config.TLS_KEY_FILE ? { certFile: config.TLS_CERT_FILE, keyFile: config.TLS_KEY_FILE } : undefined;
	const http = { host: config.HOST, tls, trustedProxies: config.TRUSTED_PROXIES };
	const [row] = await database.people.rows<{ cursor_key: Buffer }>(readCursorKey, []);
	if (row === undefined) throw new Error('the database has no cursor key');
	const cursors = new Cursors(row.cursor_key);
	const fhirContext = {
		directory,
		cursors,
		reader: database.reads,
		reads: new ResourceReads(database.reads),
		gateway: shards,
		clock: parts.clock,
		limits,
		metrics,
		version,
		publicMetadata: config.PUBLIC_METADATA,
	};
	const reference = config.API_DOCUMENTATION ? documentationRoutes((server) => fhirOpenApi(version, server, dicomWebOpenApi)) : [];
	const routes = [...fhirRoutes(fhirContext), ...bulkRoutes({ directory, bulk, limits, metrics }), ...dicomWebOn(parts), ...reference];
	opened(
		'fhir',
		config.HOST,
		await createHttpServer({
			...http,
			name: 'fhir',
			port: config.FHIR_PORT,
			limits,
			metrics,
			log,
			routes,
			renderFailure: (failure, request) => (isDicomWeb(request.path) ? renderJsonFailure(failure) : renderFhirFailure(failure, request)),
		}),
	);
	const ingestContext = { directory, gateway: shards, limits, metrics, log, clock: parts.clock };
	const documented = { ...http, documented: config.API_DOCUMENTATION, version };
	opened('hl7', config.HOST, await createHl7HttpSurface(ingestContext, { ...documented, port: config.HL7_PORT }));
	opened('mpps', config.HOST, await createMppsSurface(ingestContext, { ...documented, port: config.MPPS_PORT }));
	surfaces['admin'] = await openAdmin(parts, http, surfaces['fhir']?.port ?? config.FHIR_PORT);
	return { ...surfaces, ...(await listenMllp(parts)), ...(await listenDimse(parts)) };
}

/** DICOMweb, on the origin of the FHIR surface. */
function dicomWebOn({ config, log, metrics, clock, directory, database, audit, objects, intake }: Parts): AnyRoute[] {
	const accesses = new AccessNotes((event) => audit.recordOf(event), clock);
	return dicomWebRoutes({ directory, reader: database.reads, objects, intake, accesses, limits: config.limits, metrics, log });
}

function openOperations({ config, log, metrics, directory, shards, database, state }: Parts): Promise<HttpServer> {
	metrics.beforeCollect(() => {
		const waiting = shards.waiting();
		metrics.mailboxMessages.set(waiting.messages);
		metrics.mailboxBytes.set(waiting.bytes);
		metrics.mailboxDeepest.set(waiting.deepest);
		metrics.databaseUp.set(directory.reachable ? 1 : 0);
		metrics.readsInFlight.set(database.reads.inFlight);
	});
	const checks = [
		{ name: 'database', up: () => directory.reachable },
		{ name: 'workers', up: () => shards.available() },
		{ name: 'listeners', up: () => state.listening },
	];
	const context = { checks, draining: () => state.draining, limits: config.limits, metrics, log };
	return createOperationsSurface(context, { host: config.OPS_HOST, port: config.OPS_PORT });
}

async function listenMllp({
	config,
	log,
	metrics,
	clock,
	directory,
	shards,
	database,
	audit,
	closers,
}: Parts): Promise<Record<string, SurfaceAddress>> {
	const { limits } = config;
	const unmatched = createUnmatchedLog({ connection: database.journal, limits, metrics, log });
	closers.push(() => unmatched.close(2000));
	const surface = createMllpSurface({
		directory,
		gateway: shards,
		unmatched,
		isTrustedProxy: trustedProxies(config),
		audit: ({ address, reason }) => audit.record({ action: 'mllp.refused', subject: reason, source: address }),
		limits,
		metrics,
		log,
		clock,
	});
	closers.push(() => surface.close(limits.drainMsMax));
	return plainAndTls('mllp', surface, config.HOST, { port: config.MLLP_PORT, tlsPort: config.MLLP_TLS_PORT, tls: tlsIdentity(config) });
}

/** DICOM over TCP. */
async function listenDimse({
	config,
	log,
	metrics,
	clock,
	directory,
	shards,
	database,
	audit,
	objects,
	intake,
	closers,
}: Parts): Promise<Record<string, SurfaceAddress>> {
	const { limits } = config;
	const tls = tlsIdentity(config);
	const remoteTls = { authorities: tls?.clientCa, cert: tls?.cert, key: tls?.key };
	const table = new CommitmentTable(database.journal);
	const commitment = new Commitments({ table, objects, directory, tls: remoteTls, limits, metrics, log });
	closers.push(() => commitment.close());
	const surface = createDimseSurface({
		directory,
		intake,
		archive: createArchive(database.reads, objects),
		remoteAes: directory,
		remoteTls,
		procedureSteps: createProcedureSteps({ gateway: shards, limits, metrics, clock }),
		commitment,
		storesUnknownSopClasses: config.DICOM_PRIVATE_CLASSES,
		isTrustedProxy: trustedProxies(config),
		audit: ({ address, reason }) => audit.record({ action: 'dimse.refused', subject: reason, source: address }),
		associationsMaxOf: (siteId) => directory.limitsOf(siteId)?.associationsMax,
		auditQuery: (answered) => audit.recordOf(dimseQueryEvent(answered)),
		auditAssociation: (ended) => {
			for (const event of associationEvent(ended, clock.nowMs())) audit.recordOf(event);
		},
		limits,
		metrics,
		log,
		clock,
	});
	closers.push(() => surface.close(limits.drainMsMax));
	return plainAndTls('dimse', surface, config.HOST, { port: config.DIMSE_PORT, tlsPort: config.DIMSE_TLS_PORT, tls });
}

function trustedProxies({ TRUSTED_PROXIES }: Config): (address: string) => boolean {
	return addressSet(TRUSTED_PROXIES.map((text) => parseRange(text)).filter((range) => range !== undefined));
}

interface TcpPorts {
	port: number;
	tlsPort: number | undefined;
	tls: ReturnType<typeof tlsIdentity>;
}

/** A protocol over TCP on its plain port and, where it has one, on its port for TLS. */
async function plainAndTls(
	name: string,
	surface: { listen(options: TcpListenOptions): Promise<SurfaceAddress> },
	host: string,
	{ port, tlsPort, tls }: TcpPorts,
): Promise<Record<string, SurfaceAddress>> {
	const surfaces: Record<string, SurfaceAddress> = { [name]: await surface.listen({ host, port }) };
	if (tlsPort !== undefined && tls) surfaces[`${name}_tls`] = await surface.listen({ host, port: tlsPort, tls });
	return surfaces;
}

function tlsIdentity(config: Config): { cert: Buffer; key: Buffer; clientCa?: Buffer } | undefined {
	if (!config.TLS_CERT_FILE || !config.TLS_KEY_FILE) return undefined;
	const tls = { cert: readFileSync(config.TLS_CERT_FILE), key: readFileSync(config.TLS_KEY_FILE) };
	return config.TLS_CLIENT_CA_FILE === undefined ? tls : { ...tls, clientCa: readFileSync(config.TLS_CLIENT_CA_FILE) };
}
