import { randomBytes } from 'node:crypto';
import { chmodSync, lstatSync, mkdirSync, readdirSync, rmSync } from 'node:fs';
import { connect, createServer } from 'node:net';
import { join } from 'node:path';
import type { Log } from '#core/log.ts';
import { readRuntimeFile } from './runtime-file.ts';
import { socketFolder } from './socket-folder.ts';

/**
 * Each service process of a node listens on a Unix socket of its own. A process that has changed access rights connects to all of them.
 * Each then reads the database again and answers when the change is in force there. Neither side sends anything else, so a user who may
 * enter the folder can only cause the database to be read. The sockets are a wake-up: a process without one polls.
 */
export interface NodeProcess {
	/** Makes this process and the others of its node apply committed changes; returns those that did not confirm in time. Never rejects. */
	confirmed(): Promise<readonly string[]>;
	close(): Promise<void>;
}

export interface NodeProcessOptions {
	dataDir: string;
	/** Resolves when the changes committed before the call are in force in this process. */
	refresh(): Promise<void>;
	/** ACCESS_CONFIRM_MS_MAX */
	waitMsMax: number;
	log: Log;
}

const inForce = 'in force';
/** The largest number of connections at once. A further one is closed and gets no confirmation. */
const connectionsMax = 64;

const folderOf = (dataDir: string) => socketFolder(dataDir, 'processes');

/** Opens the socket of the process. If it cannot be made, the process goes on without it and learns of changes only by its polls. */
export async function openNodeProcess(options: NodeProcessOptions): Promise<NodeProcess> {
	const { dataDir, refresh, waitMsMax, log } = options;
	const folder = folderOf(dataDir);
	const path = join(folder, `${process.pid}-${randomBytes(4).toString('hex')}`);
	const server = createServer((socket) => {
		socket.on('error', () => undefined);
		socket.resume();
		const answer = (text: string) => socket.end(text, () => socket.destroy());
		refresh().then(
			() => answer(inForce),
			() => answer('failed'),
		);
	});
	server.maxConnections = connectionsMax;
	try {
		makeFolder(folder);
		await removeDead(folder);
		await new Promise<void>((resolve, reject) => {
			server.once('error', reject);
			server.listen(path, resolve);
		});
		server.on('error', (error) => log.warn({ err: error }, 'the socket for changes of access failed'));
		// Changes committed between the first reading and now were announced to nobody.
		await refresh();
	} catch (error) {
		log.warn({ err: error }, 'changes of access by the command line are noticed by polling alone');
	}
	return {
		confirmed: async () => {
			const own = within(refresh(), waitMsMax).then(
				() => [],
				() => [`process ${process.pid}`],
			);
			const others = unconfirmed(folder, waitMsMax, path).catch((error: unknown) => {
				log.warn({ err: error }, 'the other processes of the node cannot be asked whether a change of access is in force');
				return [];
			});
			return (await Promise.all([own, others])).flat();
		},
		close: () => new Promise((resolve) => server.close(() => resolve())),
	};
}

/**
 * Asks the service processes of the node to apply committed changes, and returns the names of those that did not confirm in time. Processes
 * other than the service call it. If no service runs, there is nobody to ask. Never rejects.
 */
export async function confirmedByNode(dataDir: string, waitMsMax: number): Promise<readonly string[]> {
	const folder = folderOf(dataDir);
	try {
		const runtime = readRuntimeFile(dataDir);
		if (runtime !== undefined && socketsIn(folder).length === 0) return [`process ${runtime.pid}`];
		return await unconfirmed(folder, waitMsMax);
	} catch (error) {
		// The change is made, so this does not fail it: the service of another user cannot be asked.
		return [`the service on ${dataDir}, which cannot be asked (${(error as NodeJS.ErrnoException).code ?? 'error'}),`];
	}
}

async function unconfirmed(folder: string, waitMsMax: number, own?: string): Promise<string[]> {
	const paths = socketsIn(folder).filter((path) => path !== own);
	const answers = await Promise.all(paths.map(async (path) => [path, await ask(path, waitMsMax)] as const));
	return answers.filter(([, answer]) => answer === 'silent').map(([path]) => processOf(path));
}

/** `gone`: nobody listens there, as after a crash. */
function ask(path: string, waitMsMax: number): Promise<'confirmed' | 'silent' | 'gone'> {
	return new Promise((resolve) => {
		const socket = connect(path);
		const timer = setTimeout(() => socket.destroy(), waitMsMax);
		let received = '';
		let isGone = false;
		socket.setEncoding('latin1');
		socket.on('data', (text: string) => {
			received = (received + text).slice(0, inForce.length);
		});
		socket.on('error', (error: NodeJS.ErrnoException) => {
			isGone = error.code === 'ECONNREFUSED' || error.code === 'ENOENT';
		});
		socket.on('close', () => {
			clearTimeout(timer);
			resolve(isGone ? 'gone' : received === inForce ? 'confirmed' : 'silent');
		});
	});
}

/** @throws Error when it takes longer */
async function within(work: Promise<void>, ms: number): Promise<void> {
	let timer: NodeJS.Timeout | undefined;
	const late = new Promise<never>((_, reject) => {
		timer = setTimeout(() => reject(new Error(`not done within ${ms} ms`)), ms);
	});
	try {
		await Promise.race([work, late]);
	} finally {
		clearTimeout(timer);
	}
}

function socketsIn(folder: string): string[] {
	try {
		return readdirSync(folder).map((name) => join(folder, name));
	} catch (error) {
		if ((error as NodeJS.ErrnoException).code === 'ENOENT') return [];
		throw error;
	}
}

function processOf(path: string): string {
	return `process ${/(\d+)-[^/]*$/.exec(path)?.[1] ?? path}`;
}

/** @throws Error when somebody else made it, which anybody may below a temporary directory */
function makeFolder(folder: string): void {
	mkdirSync(folder, { recursive: true, mode: 0o700 });
	const found = lstatSync(folder);
	if (!found.isDirectory() || ![0, found.uid].includes(process.getuid?.() ?? -1)) throw new Error(`${folder} belongs to somebody else`);
	chmodSync(folder, 0o700);
}

/** A process that is about to listen has its socket for a moment in which nobody answers there; those are let alone. */
const youngMs = 60_000;

async function removeDead(folder: string): Promise<void> {
	for (const path of socketsIn(folder)) {
		const age = Date.now() - (lstatSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0);
		if (age > youngMs && (await ask(path, 1000)) === 'gone') rmSync(path, { force: true });
	}
}
