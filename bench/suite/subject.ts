import { readFileSync } from 'node:fs';
import pg from 'pg';
import { readRuntimeFile } from '#storage/runtime-file.ts';
import { insertSites, type PlainSite } from '#test/support/many-sites.ts';
import { ServiceProcess } from '#test/support/service-process.ts';
import { observe, type Usage } from '../load/usage.ts';

export interface Opening {
	/** The folder of another checkout. */
	root?: string;
	environment?: Readonly<Record<string, string>>;
	/** Sites that send over MLLP, besides the site `bench`. */
	sites?: number;
}

/** A connection that the server closed tells so by the next query. */
async function connected(connectionString: string): Promise<pg.Client> {
	const client = new pg.Client({ connectionString });
	client.on('error', () => undefined);
	await client.connect();
	return client;
}

/** A service that is measured: a process of its own on the embedded database with fsync, as users start it, with a site `bench` and senders. */
export class Subject implements AsyncDisposable {
	readonly name: string;
	readonly service: ServiceProcess;
	readonly key: string;
	readonly siteId: string;
	readonly sites: readonly PlainSite[];
	#database: pg.Client;

	private constructor(
		name: string,
		service: ServiceProcess,
		database: pg.Client,
		key: string,
		siteId: string,
		sites: readonly PlainSite[],
	) {
		this.name = name;
		this.service = service;
		this.#database = database;
		this.key = key;
		this.siteId = siteId;
		this.sites = sites;
	}

	static async open(name: string, { root, environment = {}, sites = 16 }: Opening = {}): Promise<Subject> {
		const service = new ServiceProcess({ LOG_LEVEL: 'warn', ...environment }, root);
		try {
			await service.start();
			const told = async (...parameters: string[]) => {
				const { code, stdout, stderr } = await service.cli(...parameters, '--json');
				if (code !== 0) throw new Error(stderr);
				return JSON.parse(stdout) as { id: string; key: string };
			};
			const { id } = await told('site', 'add', 'bench', '--name', 'Bench', '--ae-title', 'TRIBUTARY');
			await told('user', 'add', 'bench@example.org', '--admin');
			const { key } = await told('key', 'create', '--site', 'bench', '--owner', 'bench@example.org');
			const databaseUrl = readRuntimeFile(service.dataDir)?.databaseUrl ?? '';
			const senders = await insertSites(databaseUrl, sites);
			const database = await connected(databaseUrl);
			// A change of access is in force everywhere within a second.
			await new Promise((resolve) => setTimeout(resolve, 1500));
			return new Subject(name, service, database, key, id, senders);
		} catch (error) {
			await service[Symbol.asyncDispose]();
			throw error;
		}
	}

	get database(): pg.Client {
		return this.#database;
	}

	/** Starts the service anew on its data, after it ended or was ended. */
	async restart(): Promise<void> {
		await this.#database.end().catch(() => undefined);
		await this.service.start();
		this.#database = await connected(this.databaseUrl);
	}

	get addresses(): string[] {
		return this.sites.map(({ address }) => address);
	}

	get databaseUrl(): string {
		return readRuntimeFile(this.service.dataDir)?.databaseUrl ?? '';
	}

	port(surface: string): number {
		return this.service.port(surface);
	}

	observe(): (driver: number) => Usage {
		return observe({ pid: this.service.pid, databasePid: this.service.databasePid });
	}

	async number(text: string, values: unknown[] = []): Promise<number> {
		const { rows } = await this.database.query<{ value: string }>({ text: `select (${text}) as value`, values });
		return Number(rows[0]?.value ?? 0);
	}

	walBytes(): Promise<number> {
		return this.number("pg_current_wal_lsn() - '0/0'::pg_lsn");
	}

	/** Version and the settings that decide how durable and how fast it is. */
	async settings(): Promise<string> {
		const names = "('server_version', 'fsync', 'synchronous_commit', 'full_page_writes', 'shared_buffers')";
		const { rows } = await this.database.query<{ line: string }>(
			`select string_agg(case name when 'server_version' then 'PostgreSQL ' || setting else name || ' ' || current_setting(name) end, ', ' order by name <> 'server_version', name) as line from pg_settings where name in ${names}`,
		);
		return rows[0]?.line ?? '';
	}

	/** Autovacuum does this sooner or later. It never comes to a table that is empty, of which the planner would then expect no row. */
	async vacuum(): Promise<void> {
		const { rows } = await this.database.query<{ filled: string }>(
			"select string_agg(oid::regclass::text, ', ') as filled from pg_class where relkind = 'r' and relnamespace = 'public'::regnamespace and pg_relation_size(oid) > 0",
		);
		await this.database.query(`vacuum analyze ${rows[0]?.filled}`);
	}

	/** Resident memory of the service's first process, in MB: now, and at its highest (Linux). */
	memory(): { now: number; highest: number } {
		const text = readFileSync(`/proc/${this.service.pid}/status`, 'utf8');
		const of = (name: string) => Math.round(Number(new RegExp(`${name}:\\s+(\\d+)`).exec(text)?.[1]) / 1024);
		return { now: of('VmRSS'), highest: of('VmHWM') };
	}

	/** One of the service's own figures, summed over its labels. */
	async metric(name: string): Promise<number> {
		const text = await (await fetch(`http://127.0.0.1:${this.port('ops')}/metrics`)).text();
		return [...text.matchAll(new RegExp(`^${name}(?:\\{[^}]*\\})? (\\S+)`, 'gm'))].reduce((sum, [, value]) => sum + Number(value), 0);
	}

	async [Symbol.asyncDispose](): Promise<void> {
		await this.database.end();
		await this.service[Symbol.asyncDispose]();
	}
}
