import { execFileSync, spawn } from 'node:child_process';
import { chmodSync, chownSync, existsSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { eventually } from './eventually.ts';

/** The user `nobody` of Debian; who is not root can only be itself. */
export const nobody = process.getuid?.() === 0 ? { uid: 65_534, gid: 65_534 } : {};

export const portsOfTests = Object.fromEntries(
	['FHIR_PORT', 'HL7_PORT', 'MPPS_PORT', 'ADMIN_PORT', 'OPS_PORT', 'MLLP_PORT', 'DIMSE_PORT'].map((name) => [name, '0']),
);

/** A folder whose path has what paths may have. */
export function strangeFolder(): { path: string; remove(): void } {
	const parent = mkdtempSync(join(tmpdir(), 'tributary-installed-'));
	chmodSync(parent, 0o755);
	const path = join(parent, 'a path with blanks and ü');
	mkdirSync(path);
	return {
		path,
		remove: () => {
			execFileSync('chmod', ['-R', 'u+w', parent]);
			rmSync(parent, { recursive: true, force: true });
		},
	};
}

/** Unpacks an archive; nobody may write into what it holds. Returns the folder. */
export function unpacked(archive: string, into: string): string {
	execFileSync('tar', ['-xzf', archive, '-C', into, '--no-same-owner']);
	const [name = ''] = execFileSync('tar', ['-tzf', archive], { encoding: 'utf8', maxBuffer: 2 ** 26 }).split('/');
	const tree = join(into, name);
	execFileSync('chmod', ['-R', 'a-w', tree]);
	return tree;
}

/** Makes a data directory for the user that the service runs as. */
export function dataFolder(path: string): string {
	mkdirSync(path, { recursive: true });
	if (nobody.uid !== undefined) chownSync(path, nobody.uid, nobody.gid);
	return path;
}

/** A program that is started and watched until it says that it is ready. */
export class Installed implements AsyncDisposable {
	output = '';
	readonly #child;

	constructor(
		program: string,
		parameters: readonly string[],
		options: { cwd: string; env: NodeJS.ProcessEnv; uid?: number; gid?: number },
	) {
		this.#child = spawn(program, parameters, { ...options, stdio: ['ignore', 'pipe', 'pipe'] });
		for (const stream of [this.#child.stdout, this.#child.stderr])
			stream.on('data', (chunk: Buffer) => {
				this.output += chunk.toString();
			});
	}

	get pid(): number {
		return this.#child.pid ?? 0;
	}

	async ready(): Promise<void> {
		await eventually(() => {
			if (this.#child.exitCode !== null) throw new Error(`it ended with ${this.#child.exitCode}: ${this.output}`);
			return this.output.includes('is ready');
		}, `the start of the service: ${this.output}`);
	}

	/** The port of a line of the start block. */
	port(surface: string): number {
		return Number(new RegExp(`${surface} +\\w+://[^:]+:(\\d+)`).exec(this.output)?.[1]);
	}

	/** @param pid who gets the signal, where it is not the program itself */
	end(pid: number = this.pid): Promise<number | null> {
		if (this.#child.exitCode !== null) return Promise.resolve(this.#child.exitCode);
		return new Promise((resolve) => {
			this.#child.once('close', (code) => resolve(code));
			if (existsSync(`/proc/${pid}`)) process.kill(pid, 'SIGTERM');
		});
	}

	async [Symbol.asyncDispose](): Promise<void> {
		await this.end();
	}
}
