import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import type { Passwords } from '#access/password.ts';
import { type Closer, openParts } from '#core/closers.ts';
import type { Log } from '#core/log.ts';
import { alone } from '#core/place.ts';
import { keepDataFolder } from '#storage/data-folder.ts';
import { isTiedToAnother, otherDatabaseText, tieToDatabase, wouldStandBeside } from '#storage/database-identity.ts';
import { releaseLock, takeLock } from '#storage/embedded/data-directory.ts';
import { startEmbeddedDatabase } from '#storage/embedded/embedded-database.ts';
import { removeRuntimeFile, writeRuntimeFile } from '#storage/runtime-file.ts';
import { readAuditFiles, readCertificates } from '../certificates.ts';
import { type Config, ConfigurationError } from '../config.ts';
import type { Service } from '../service.ts';
import { version } from '../version.ts';
import type { Opened } from './messages.ts';

/** A running node, of one process or of several. */
export interface Node extends Opened {
	databaseUrl: string;
	/** True if the database is the embedded one. */
	embedded: boolean;
	/** The only process of the node; undefined where there are several. */
	service: Service | undefined;
	/** Replaces the processes one after the other; undefined for a node of one process. */
	roll: (() => Promise<void>) | undefined;
	/** Stops accepting, answers what is in flight, ends everything that was started; the embedded database last. */
	close(): Promise<void>;
	/** Ends the processes of the node at once. */
	kill(): void;
}

interface Started extends Opened {
	service?: Service;
	roll?: () => Promise<void>;
	kill?: () => void;
}

/** Returns how many processes the node has. @throws ConfigurationError where processes cannot share ports */
export function processesOf(
	{ PROCESSES: wanted }: Pick<Config, 'PROCESSES'>,
	cores = availableParallelism(),
	platform = process.platform,
): number {
	if (platform !== 'linux') {
		if (wanted !== undefined && wanted > 1) throw new ConfigurationError('PROCESSES', 'several processes share ports on Linux only');
		return 1;
	}
	return wanted ?? (cores < 4 ? 1 : Math.min(16, Math.floor(cores / 2)));
}

/**
 * Starts a node. One process has everything in it. With several, this one becomes their parent: it has the embedded database, the ports and
 * the data directory, starts the others, and serves nothing itself.
 * @throws StartError when something else has the data directory or a port
 */
export function startNode(config: Config, log: Log, passwords?: Passwords): Promise<Node> {
	return openParts((closers, close) => open(config, log, passwords, closers, close));
}

async function open(
	config: Config,
	log: Log,
	passwords: Passwords | undefined,
	closers: Closer[],
	close: () => Promise<void>,
): Promise<Node> {
	const count = processesOf(config);
	// A node with bad certificates starts nothing.
	readCertificates(config, Date.now());
	readAuditFiles(config);
	const { DATA_DIR: dataDir } = config;
	if (wouldStandBeside(config)) throw embeddedBeside(dataDir);
	const stillOpen = keepDataFolder(dataDir);
	if (stillOpen !== undefined) log.warn(stillOpen);
	const lock = join(dataDir, 'service.lock');
	await takeLock(lock, `the data directory ${dataDir}`);
	closers.push(() => releaseLock(lock));
	// HTTP ports with TLS are opened so that others could share them.
	if (count > 1 || (config.TLS_CERT_FILE !== undefined && process.platform === 'linux'))
		closers.push((await (await import('./ports.ts')).claimPorts(config)).release);
	const databaseUrl = config.DATABASE_URL ?? (await openEmbedded(config, count, log, closers));
	if (config.DATABASE_URL === undefined && (await isTiedToAnother(dataDir, databaseUrl))) throw embeddedBeside(dataDir);
	const note = (opened: Opened, processes?: readonly number[]) => {
		const { httpServer, surfaces } = opened;
		writeRuntimeFile(dataDir, { pid: process.pid, ...(processes && { processes }), version, httpServer, databaseUrl, surfaces });
	};
	const means = { config, log, databaseUrl, closers };
	const started = count === 1 ? await startAlone({ ...means, passwords, note }) : await startSeveral({ ...means, count, note });
	closers.push(() => removeRuntimeFile(dataDir));
	await tieToDatabase(dataDir, databaseUrl);
	const { service, roll, kill = () => undefined, ...opened } = started;
	return { ...opened, databaseUrl, embedded: config.DATABASE_URL === undefined, service, roll, close, kill };
}

/** A forgotten DATABASE_URL must not serve an empty database beside the objects of another one. */
function embeddedBeside(dataDir: string): ConfigurationError {
	return new ConfigurationError('DATABASE_URL', `is unset, and ${otherDatabaseText(dataDir)}`);
}

interface Means {
	config: Config;
	log: Log;
	databaseUrl: string;
	closers: Closer[];
	note(opened: Opened, processes?: readonly number[]): void;
}

async function startAlone({
	config,
	log,
	databaseUrl,
	closers,
	passwords,
	note,
}: Means & { passwords: Passwords | undefined }): Promise<Started> {
	const { startService } = await import('../service.ts');
	const service = await startService(config, log, { databaseUrl, place: alone, ...(passwords && { passwords }) });
	closers.push(() => service.close());
	note(service);
	const { surfaces, consoleLogin, httpServer } = service;
	return { surfaces, consoleLogin, httpServer, service };
}

async function startSeveral({ config, log, databaseUrl, closers, count, note }: Means & { count: number }): Promise<Started> {
	const { Parent } = await import('./parent.ts');
	const parent: InstanceType<typeof Parent> = new Parent({
		config,
		count,
		databaseUrl,
		log,
		onChange: (opened, pids) => note(opened, pids),
	});
	closers.push(() => parent.close());
	return { ...(await parent.start()), roll: () => parent.roll(), kill: () => parent.kill() };
}

async function openEmbedded(config: Config, count: number, log: Log, closers: Closer[]): Promise<string> {
	const database = await startEmbeddedDatabase({
		dataDir: config.DATA_DIR,
		// docs/operations.md adds up the connections of a process; commands have some more.
		settings: { max_connections: String(Math.max(200, count * connectionsOfProcess)) },
		onCrash: (error) =>
			log.error(
				error ? { err: error } : {},
				error ? 'the embedded database does not start again' : 'the embedded database ended and is started again',
			),
	});
	closers.push(() => database.stop());
	return database.url;
}

const connectionsOfProcess = 40;
