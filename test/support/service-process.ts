import { type ChildProcess, spawn } from 'node:child_process';
import { chmodSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { readRuntimeFile } from '#storage/runtime-file.ts';
import { eventually } from './eventually.ts';

const here = join(import.meta.dirname, '../..');

/** The JSON that commands print, as tests read it: by path, without types. */
type Json = ReturnType<typeof JSON.parse>;

/** As src/start.mjs does it, with a zero character after what each command prints. */
const severalCommands = `
	import module from 'node:module';
	module.enableCompileCache('node_modules/.cache/tributary');
	await import(process.cwd() + '/src/stripping.mjs');
	const { main } = await import(process.cwd() + '/src/main.ts');
	for (const list of JSON.parse(process.argv[1])) {
		const code = await main([...list, '--json']);
		if (code !== 0) process.exit(code);
		process.stdout.write('\\0');
	}
`;

/**
 * The service as its users run it: a process of its own, on the embedded database, with fsync. `root` is the folder of another
 * checkout than this one.
 */
export class ServiceProcess {
	readonly dataDir: string;
	#child: ChildProcess | undefined;
	output = '';

	readonly #settings: Readonly<Record<string, string>>;

	readonly #root: string;

	constructor(settings: Readonly<Record<string, string>> = {}, root: string = here) {
		this.#settings = settings;
		this.#root = root;
		this.dataDir = mkdtempSync(join(tmpdir(), 'tributary-process-'));
		chmodSync(this.dataDir, 0o755);
	}

	get #environment(): NodeJS.ProcessEnv {
		const { DATABASE_URL: _none, ...environment } = process.env;
		return {
			...environment,
			DATA_DIR: this.dataDir,
			PROCESSES: process.env['PROCESSES'] ?? '1',
			FHIR_PORT: '0',
			HL7_PORT: '0',
			MPPS_PORT: '0',
			ADMIN_PORT: '0',
			OPS_PORT: '0',
			MLLP_PORT: '0',
			DIMSE_PORT: '0',
			LOG_LEVEL: 'info',
			...this.#settings,
		};
	}

	/** `nodeArguments` are those of Node.js, such as `--max-old-space-size=512`. */
	async start(nodeArguments: readonly string[] = []): Promise<void> {
		const child = spawn(process.execPath, [...nodeArguments, 'src/start.mjs', 'start'], {
			cwd: this.#root,
			env: this.#environment,
			stdio: ['ignore', 'pipe', 'pipe'],
		});
		this.#child = child;
		this.output = '';
		child.stdout.on('data', (chunk) => {
			this.output += chunk;
		});
		child.stderr.on('data', (chunk) => {
			this.output += chunk;
		});
		const isReady = () => {
			if (child.exitCode !== null) throw new Error(`the service ended with ${child.exitCode}: ${this.output}`);
			return this.output.includes('is ready');
		};
		// Several processes that start one after the other on a busy machine take longer than anything else that is waited for.
		await eventually(isReady, 'the start of the service', 4800);
	}

	port(surface: string): number {
		return readRuntimeFile(this.dataDir)?.surfaces[surface]?.port ?? 0;
	}

	get pid(): number {
		return this.#child?.pid ?? 0;
	}

	/** Process id of the embedded PostgreSQL. */
	get databasePid(): number {
		return Number(readFileSync(join(this.dataDir, 'postgres/postmaster.pid'), 'utf8').split('\n')[0]);
	}

	/** Runs the command line on the same data; answers what it printed and its exit code. */
	cli(...parameters: string[]): Promise<{ code: number | null; stdout: string; stderr: string }> {
		const child = spawn(process.execPath, ['src/start.mjs', ...parameters], {
			cwd: this.#root,
			env: this.#environment,
			stdio: ['ignore', 'pipe', 'pipe'],
		});
		let stdout = '';
		let stderr = '';
		child.stdout.on('data', (chunk) => {
			stdout += chunk;
		});
		child.stderr.on('data', (chunk) => {
			stderr += chunk;
		});
		return new Promise((resolve) => child.once('close', (code) => resolve({ code, stdout, stderr })));
	}

	/**
	 * Runs several commands on the same data in one process, since most of what a command costs is to load the product. Answers what each
	 * printed as JSON.
	 * @throws Error with what was printed, if one fails
	 */
	async commands(...lists: string[][]): Promise<Json[]> {
		const child = spawn(process.execPath, ['--input-type=module', '--eval', severalCommands, JSON.stringify(lists)], {
			cwd: this.#root,
			env: this.#environment,
			stdio: ['ignore', 'pipe', 'pipe'],
		});
		const [printed, failed, code] = await Promise.all([
			text(child.stdout),
			text(child.stderr),
			new Promise<number | null>((resolve) => child.once('close', resolve)),
		]);
		if (code !== 0) throw new Error(`a command ended with ${code}: ${printed}${failed}`);
		return printed
			.split('\0')
			.slice(0, -1)
			.map((document) => JSON.parse(document));
	}

	/** Adds a site with an HL7 client at loopback; answers a key for it. */
	async addSite(slug: string): Promise<string> {
		const [, , , created] = await this.commands(
			['site', 'add', slug, '--name', slug],
			['user', 'add', 'ann@example.org', '--admin'],
			['client', 'add', '--site', slug, '--name', 'lab', '--protocol', 'hl7-mllp', '--allow-ip', '127.0.0.1', '--confirm-overlap'],
			['key', 'create', '--site', slug, '--owner', 'ann@example.org'],
		);
		return created.key;
	}

	/** Ends the service with a signal; answers its exit code. */
	end(signal: NodeJS.Signals): Promise<number | null> {
		const child = this.#child;
		if (child === undefined || child.exitCode !== null || child.signalCode !== null) return Promise.resolve(child?.exitCode ?? null);
		return new Promise((resolve) => {
			child.once('close', (code) => resolve(code));
			child.kill(signal);
		});
	}

	async [Symbol.asyncDispose](): Promise<void> {
		await this.end('SIGTERM');
		rmSync(this.dataDir, { recursive: true, force: true });
	}
}
