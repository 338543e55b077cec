import { existsSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { passwordsOf, withoutPassword } from '#core/database-url.ts';

export interface SurfaceAddress {
	host: string;
	port: number;
	tls: boolean;
}

/** The file that a running service keeps under DATA_DIR so that the command line finds it. It is removed when the service ends. */
export interface RuntimeFile {
	/** The process that a signal for the service goes to: the only one, or the parent of several. */
	pid: number;
	/** The processes that have opened and not ended; absent where `pid` is the only one. */
	processes?: readonly number[];
	version: string;
	/** The HTTP server library that this machine could load, with its version. */
	httpServer: string;
	/** The password is left out. */
	databaseUrl: string;
	/** True if the database wants a password, which commands then take from their own DATABASE_URL. */
	hasPassword?: boolean;
	surfaces: Record<string, SurfaceAddress>;
}

const nameOf = (dataDir: string) => join(dataDir, 'service.json');

/** Only the service's user can read it, because it names the database. The password of the database stays in the environment of the service. */
export function writeRuntimeFile(dataDir: string, runtime: Omit<RuntimeFile, 'hasPassword'>): void {
	const path = nameOf(dataDir);
	const { databaseUrl } = runtime;
	const hasPassword = passwordsOf(databaseUrl).length > 0;
	const noted = { ...runtime, databaseUrl: withoutPassword(databaseUrl), ...(hasPassword && { hasPassword }) };
	writeFileSync(`${path}.new`, `${JSON.stringify(noted, null, '\t')}\n`, { mode: 0o600 });
	renameSync(`${path}.new`, path);
}

/** Returns undefined when no service runs on this directory. A killed one does not count. */
export function readRuntimeFile(dataDir: string): RuntimeFile | undefined {
	const path = nameOf(dataDir);
	if (!existsSync(path)) return undefined;
	const runtime = JSON.parse(readFileSync(path, 'utf8')) as RuntimeFile;
	try {
		process.kill(runtime.pid, 0);
		return runtime;
	} catch (error) {
		return (error as NodeJS.ErrnoException).code === 'EPERM' ? runtime : undefined;
	}
}

export function removeRuntimeFile(dataDir: string): void {
	rmSync(nameOf(dataDir), { force: true });
}
