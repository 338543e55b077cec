import { spawnSync } from 'node:child_process';
import { chmodSync, closeSync, existsSync, globSync, mkdtempSync, openSync, readdirSync, readFileSync, rmSync, writeSync } from 'node:fs';
import { request } from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { type EmbeddedDatabase, startEmbeddedDatabase } from '#storage/embedded/embedded-database.ts';
import { eventually } from '#test/support/eventually.ts';
import { LedgerClient, ledgerSites } from '#test/support/ledger/client.ts';
import type { LedgerSite, Way } from '#test/support/ledger/sender.ts';
import { type SenderKind, senders } from '#test/support/ledger/senders.ts';
import { ServiceProcess } from '#test/support/service-process.ts';
import { type Descriptors, descriptorsOf, openTargets, processesOf, residentOf } from '#test/trust/process-figures.ts';
import { type Harm, Line } from './line.ts';
import { wireStates } from './wire-states.ts';

const certificates = join(import.meta.dirname, '../surfaces/mllp/certificates');
const surfaces = ['mllp', 'mllp_tls', 'hl7', 'fhir', 'mpps', 'dimse'] as const;
export const everyKind = Object.keys(senders) as SenderKind[];

/** A file system whose size can be taken away; undefined where this user may not mount one. */
class SmallDisk {
	readonly folder: string;

	private constructor(folder: string) {
		this.folder = folder;
	}

	static mount(folder: string): SmallDisk | undefined {
		return spawnSync('mount', ['-t', 'tmpfs', '-o', 'size=12g,mode=0755', 'tmpfs', folder]).status === 0
			? new SmallDisk(folder)
			: undefined;
	}

	/** Nothing more fits than is there. What is written meanwhile may be more than the new size, which is then refused, so it is measured again. */
	fill(): void {
		for (let tries = 1; ; tries++) {
			const { stdout } = spawnSync('df', ['--output=used', '-B', '1', this.folder], { encoding: 'utf8' });
			const refusal = this.#resized(String(Number(stdout.trim().split('\n').at(-1))));
			if (refusal === undefined) return;
			if (tries === 50) throw new Error(`the file system cannot be resized: ${refusal}`);
		}
	}

	release(): void {
		const refusal = this.#resized('12g');
		if (refusal !== undefined) throw new Error(`the file system cannot be resized: ${refusal}`);
	}

	/** @returns why not, if it was refused */
	#resized(size: string): string | undefined {
		const { status, stderr } = spawnSync('mount', ['-o', `remount,size=${size}`, this.folder], { encoding: 'utf8' });
		return status === 0 ? undefined : stderr;
	}

	unmount(): void {
		spawnSync('umount', ['-l', this.folder]);
	}
}

export interface BedOptions {
	sites: number;
	processes: number;
	answerMsMax: number;
	kinds?: readonly SenderKind[];
}

/** The service on a database of the run's own, with a line that can be hurt before each surface and before the database, and ledger clients of many sites. */
export class Bed implements AsyncDisposable {
	/** SQLSTATEs that the database told the service. */
	readonly states: Map<string, number>;
	readonly service: ServiceProcess;
	readonly sites: readonly LedgerSite[];
	readonly ledger: LedgerClient;
	readonly clientLines: ReadonlyMap<string, Line>;
	readonly databaseLine: Line;
	readonly disk: SmallDisk | undefined;
	readonly processes: number;
	readonly way: Way;
	/** The fault under way, for the journal. */
	underWay = 'no fault';
	/** The words of the service about each piece of work that it refused. */
	readonly refusals: string[] = [];
	readonly #folder: string;
	readonly #database: EmbeddedDatabase;
	/** Beside the disk that is filled: what the senders were told is written down then, too. */
	readonly #journalFolder = mkdtempSync(join(tmpdir(), 'tributary-ledger-'));
	readonly #journal = openSync(join(this.#journalFolder, 'ledger.txt'), 'a');

	private constructor(given: {
		states: Map<string, number>;
		service: ServiceProcess;
		sites: readonly LedgerSite[];
		clientLines: ReadonlyMap<string, Line>;
		databaseLine: Line;
		disk: SmallDisk | undefined;
		options: BedOptions;
		folder: string;
		database: EmbeddedDatabase;
	}) {
		const { clientLines, options } = given;
		this.states = given.states;
		this.service = given.service;
		this.sites = given.sites;
		this.clientLines = clientLines;
		this.databaseLine = given.databaseLine;
		this.disk = given.disk;
		this.processes = options.processes;
		this.#folder = given.folder;
		this.#database = given.database;
		this.way = {
			port: (surface) => clientLines.get(surface)?.port ?? 0,
			tls: true,
			answerMsMax: options.answerMsMax,
			refused: (key, words) => this.refusals.push(`${key}: ${words}`),
		};
		this.ledger = new LedgerClient(given.sites, this.way, options.kinds ?? everyKind);
	}

	static async open(options: BedOptions): Promise<Bed> {
		const folder = mkdtempSync(join(tmpdir(), 'tributary-fault-'));
		chmodSync(folder, 0o755);
		const disk = SmallDisk.mount(folder);
		const within = join(folder, 'database');
		const database = await startEmbeddedDatabase({ dataDir: within, settings: { max_connections: '60', shared_buffers: '128MB' } });
		const states = new Map<string, number>();
		const socket = new URL(database.url).searchParams.get('host') ?? '';
		const databaseLine = await new Line(() => ({ path: `${socket}/.s.PGSQL.5432` }), wireStates(states)).listen();
		// Temporary files of the service are made where they are counted afterwards.
		const outer = process.env['TMPDIR'];
		process.env['TMPDIR'] = folder;
		const service = new ServiceProcess({
			DATABASE_URL: `postgresql://tributary@127.0.0.1:${databaseLine.port}/tributary`,
			PROCESSES: String(options.processes),
			WORKERS: String(options.processes),
			MLLP_TLS_PORT: '0',
			TLS_CERT_FILE: join(certificates, 'server.cert.pem'),
			TLS_KEY_FILE: join(certificates, 'server.key.pem'),
			LOG_LEVEL: 'warn',
			NODE_OPTIONS: '--inspect-port=0',
		});
		if (outer === undefined) delete process.env['TMPDIR'];
		else process.env['TMPDIR'] = outer;
		await service.start();
		const clientLines = new Map<string, Line>();
		for (const surface of surfaces) clientLines.set(surface, await new Line(() => ({ port: service.port(surface) })).listen());
		const sites = await ledgerSites(database.url, options.sites);
		await new Promise((resolve) => setTimeout(resolve, 1500));
		return new Bed({ states, service, sites, clientLines, databaseLine, disk, options, folder, database });
	}

	/** The database itself, past the line. */
	get databaseUrl(): string {
		return this.#database.url;
	}

	async rows<T = Record<string, string>>(text: string, values: unknown[] = []): Promise<T[]> {
		const client = new pg.Client({ connectionString: this.databaseUrl, connectionTimeoutMillis: 10_000 });
		client.on('error', () => undefined);
		await client.connect();
		try {
			return (await client.query(text, values)).rows as T[];
		} finally {
			await client.end();
		}
	}

	async number(text: string): Promise<number> {
		return Number((await this.rows<{ value: string }>(`select (${text}) as value`))[0]?.value ?? 0);
	}

	get cluster(): string {
		return join(this.#folder, 'database/postgres');
	}

	get postmaster(): number {
		const path = join(this.cluster, 'postmaster.pid');
		return existsSync(path) ? Number(readFileSync(path, 'utf8').split('\n')[0]) : 0;
	}

	/** The processes of the service that do its work. */
	get members(): readonly number[] {
		return processesOf(this.service.dataDir).members;
	}

	/** The status that FHIR answers to a key; 0 while it does not answer. */
	statusOf(key: string): Promise<number> {
		return new Promise((resolve) => {
			const asked = request(
				{
					host: '127.0.0.1',
					port: this.service.port('fhir'),
					path: '/fhir/Patient?_count=1',
					headers: { 'X-API-Key': key },
					rejectUnauthorized: false,
					agent: false,
					signal: AbortSignal.timeout(5000),
				},
				(answer) => {
					answer.once('error', () => resolve(0));
					answer.once('end', () => resolve(answer.statusCode ?? 0));
					answer.resume();
				},
			);
			asked.once('error', () => resolve(0));
			asked.end();
		});
	}

	/** The senders work until the signal comes; each answer is written down before its sender goes on. */
	work(signal: AbortSignal): Promise<void> {
		return this.ledger.run({
			signal,
			answered: ({ key, answer }) => void writeSync(this.#journal, `${new Date().toISOString()} ${this.underWay}: ${answer} ${key}\n`),
		});
	}

	/** Finds a piece of work in the journal, the message log and the patients. */
	async traces(key: string): Promise<string[]> {
		const noted = readFileSync(join(this.#journalFolder, 'ledger.txt'), 'utf8')
			.split('\n')
			.filter((line) => line.endsWith(` ${key}`));
		const logged = await this.rows<{ line: string }>(
			`select concat_ws(' ', sequence, outcome, failure_code, surface, received_at, committed_at, flags) as line from message_log where control_id = $1`,
			[key],
		);
		const patients = await this.rows<{ line: string }>(
			`select concat_ws(' ', p.id, p.version, p.last_updated, p.source) as line from patient_identifier i
			   join patient p on p.site_id = i.site_id and p.id = i.patient_id where i.value = $1`,
			[key],
		);
		return [...noted, ...logged.map(({ line }) => `log: ${line}`), ...patients.map(({ line }) => `patient: ${line}`)];
	}

	/** Files that the service's processes have open. */
	openFiles(): string[] {
		return this.members.flatMap((pid) => openTargets(pid).filter((target) => target.startsWith('/')));
	}

	harm(lines: Iterable<Line> = this.clientLines.values()): Harm {
		const sum: Harm = { cut: 0, reset: 0, delayed: 0, dripped: 0, swallowed: 0, halved: 0, refused: 0, ended: 0 };
		for (const { harm } of lines) for (const kind of Object.keys(sum) as (keyof Harm)[]) sum[kind] += harm[kind];
		return sum;
	}

	/** Resolves when so many more pieces of work are acknowledged. */
	async acknowledges(more: number): Promise<void> {
		const from = this.ledger.counts.accepted;
		await eventually(() => this.ledger.counts.accepted >= from + more, `${more} acknowledgements`);
	}

	/** Lists the files that the run has left under the folder for temporary ones, beside the data itself. What a probe writes is gone a moment later. */
	async leftovers(): Promise<string[]> {
		const first = new Set(this.#temporary());
		await new Promise((resolve) => setTimeout(resolve, 2000));
		return this.#temporary().filter((path) => first.has(path));
	}

	#temporary(): string[] {
		const { dataDir } = this.service;
		const own = globSync(['objects/incoming/*/*', 'spool/*', 'incoming/*'], { cwd: dataDir });
		const beside = readdirSync(this.#folder).filter((name) => name !== 'database' && join(this.#folder, name) !== dataDir);
		const sorts = globSync('database/postgres/base/pgsql_tmp/*', { cwd: this.#folder });
		return [...own, ...beside, ...sorts];
	}

	/** Open descriptors of the service's processes, by what they are. */
	descriptors(): Descriptors {
		return descriptorsOf(this.members);
	}

	/** Resident megabytes of the service's largest process: now, and the most that it had. */
	memory(): { now: number; highest: number } {
		const each = this.members.map(residentOf);
		return { now: Math.max(...each.map(({ now }) => now)), highest: Math.max(...each.map(({ highest }) => highest)) };
	}

	/** Releases all that a fault may have left, whatever happened in it. */
	heal(): void {
		for (const line of [...this.clientLines.values(), this.databaseLine]) line.heal();
		this.disk?.release();
	}

	async [Symbol.asyncDispose](): Promise<void> {
		this.heal();
		await this.service[Symbol.asyncDispose]();
		for (const line of [...this.clientLines.values(), this.databaseLine]) line[Symbol.dispose]();
		await this.#database.stop();
		closeSync(this.#journal);
		rmSync(this.#journalFolder, { recursive: true, force: true });
		this.disk?.unmount();
		rmSync(this.#folder, { recursive: true, force: true });
	}
}
