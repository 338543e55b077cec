import { spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { chmodSync, chownSync, existsSync, globSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import pg from 'pg';
import { listens } from './listens.ts';
import { Network } from './network.ts';
import { Part } from './part.ts';

const here = import.meta.dirname;
const root = join(here, '../..');
const surfaces = ['fhir', 'hl7', 'mpps', 'mllp', 'dimse'] as const;
export type ClusterSurface = (typeof surfaces)[number];
const programs = ['ip', 'setpriv', 'etcd', 'patroni', 'haproxy'] as const;

/** A database node: Patroni with its PostgreSQL, on a machine of its own. */
export interface DatabaseNode {
	part: Part;
	namespace: string;
	address: string;
}

/** A node of the service. */
export interface ServiceNode {
	part: Part;
	ports: Readonly<Record<string, number>>;
}

export interface ClusterOptions {
	/** Nodes of the service. */
	nodes: number;
	/** Told of each step, in words. */
	told: (line: string) => void;
}

/** Says why a cluster cannot be started here; undefined where it can. */
export function clusterImpossible(): string | undefined {
	if (process.getuid?.() !== 0) return 'only root may make networks';
	const missing = [...programs, poolerProgram].filter((name) => programPath(name) === undefined);
	if (missing.length > 0) return `${missing.join(', ')} not installed (Debian: iproute2 util-linux etcd-server patroni pgbouncer haproxy)`;
	return postgresFolder() === undefined ? 'PostgreSQL is not installed (Debian: postgresql)' : undefined;
}

function programPath(name: string): string | undefined {
	if (name.startsWith('/')) return existsSync(name) ? name : undefined;
	return (process.env['PATH'] ?? '')
		.split(':')
		.concat('/usr/sbin', '/sbin')
		.map((folder) => join(folder, name))
		.find((path) => existsSync(path));
}

/** The newest PostgreSQL of Debian. */
function postgresFolder(): string | undefined {
	return globSync('/usr/lib/postgresql/*/bin')
		.filter((folder) => existsSync(join(folder, 'postgres')))
		.sort((left, right) => Number(right.split('/')[4]) - Number(left.split('/')[4]))[0];
}

async function freePorts(count: number): Promise<number[]> {
	const servers = await Promise.all(
		Array.from({ length: count }, async () => {
			const server = createServer();
			await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
			return server;
		}),
	);
	const ports = servers.map((server) => (server.address() as AddressInfo).port);
	await Promise.all(servers.map((server) => new Promise((resolve) => server.close(resolve))));
	return ports;
}

async function statusOf(url: string): Promise<number> {
	try {
		const answer = await fetch(url, { signal: AbortSignal.timeout(2000) });
		await answer.body?.cancel();
		return answer.status;
	} catch {
		return 0;
	}
}

/** Fills in a file of this folder. @throws Error if it names a value that is not given */
function filled(name: string, values: Readonly<Record<string, string | number>>): string {
	return readFileSync(join(here, name), 'utf8').replaceAll(/\$\{([A-Z\d_]+)\}/g, (_whole, key: string) => {
		const value = values[key];
		if (value === undefined) throw new Error(`${name} asks for ${key}`);
		return String(value);
	});
}

/** PgBouncer, or the one that TRIBUTARY_PGBOUNCER names. */
const poolerProgram = process.env['TRIBUTARY_PGBOUNCER'] ?? 'pgbouncer';

/** `pooling` stands in DATABASE_URL: from 1.21 on PgBouncer keeps prepared statements apart, and before that statements are sent whole. */
interface Pooling {
	pooling: 'transaction' | 'unprepared';
	prepared: string;
	version: string;
}

function readPooling(): Pooling {
	const { stdout } = spawnSync(poolerProgram, ['--version'], { encoding: 'utf8', env: pathed() });
	const version = /(\d+)\.(\d+)/.exec(stdout) ?? ['0.0', '0', '0'];
	const keeps = Number(version[1]) > 1 || Number(version[2]) >= 21;
	return keeps
		? { pooling: 'transaction', prepared: 'max_prepared_statements = 1000', version: version[0] }
		: { pooling: 'unprepared', prepared: '', version: version[0] };
}

function pathed(): Record<string, string> {
	return { PATH: `${process.env['PATH'] ?? ''}:/usr/sbin:/sbin` };
}

/**
 * Three nodes of the service behind HAProxy, on a PostgreSQL of three nodes (a leader, a synchronous standby, a replica) that Patroni and etcd
 * keep, reached through PgBouncer. All of it is on this machine: the database nodes and etcd in networks of their own, the rest on loopback.
 */
export class Cluster implements AsyncDisposable {
	readonly folder: string;
	readonly databases: readonly DatabaseNode[];
	readonly etcd: Part;
	readonly haproxy: Part;
	readonly pooler: Part;
	readonly nodes: readonly ServiceNode[];
	readonly network: Network;
	/** Ports of HAProxy for senders and readers. */
	readonly ports: Readonly<Record<ClusterSurface, number>>;
	readonly #password: string;
	readonly #databasePort: number;
	readonly #told: (line: string) => void;
	readonly pooling: Pooling;

	private constructor(options: ClusterOptions, ports: readonly number[]) {
		const next = ports.values();
		const port = () => next.next().value ?? 0;
		this.#told = options.told;
		this.folder = mkdtempSync(join(tmpdir(), 'tributary-cluster-'));
		chmodSync(this.folder, 0o711);
		this.#password = randomBytes(16).toString('hex');
		this.network = new Network();
		const etcdMachine = this.network.add('etcd', 10);
		const owner = ownerOfDatabases();
		this.etcd = this.#etcdPart(etcdMachine);
		this.pooling = readPooling();
		this.databases = [1, 2, 3].map((number) => this.#databaseNode(`db${number}`, 10 + number, etcdMachine.address, owner));
		this.#databasePort = port();
		const [readPort, poolerPort] = [port(), port()];
		this.ports = Object.fromEntries(surfaces.map((surface) => [surface, port()])) as Record<ClusterSurface, number>;
		this.nodes = Array.from({ length: options.nodes }, (_, index) => this.#serviceNode(`node${index + 1}`, port, poolerPort));
		this.haproxy = this.#haproxyPart(readPort);
		this.pooler = this.#poolerPart(poolerPort, owner);
	}

	/** @throws Error if a part does not start; what was started is stopped then */
	static async start(options: ClusterOptions): Promise<Cluster> {
		const impossible = clusterImpossible();
		if (impossible !== undefined) throw new Error(`no cluster can be started here: ${impossible}`);
		const cluster = new Cluster(options, await freePorts(3 + surfaces.length + options.nodes * (surfaces.length + 2)));
		try {
			await cluster.#startAll();
			return cluster;
		} catch (error) {
			await cluster[Symbol.asyncDispose]();
			throw error;
		}
	}

	async #startAll(): Promise<void> {
		await this.#start(this.etcd);
		await Promise.all(this.databases.map(({ part }) => this.#start(part)));
		await this.#start(this.haproxy);
		await this.standsBy(2);
		await this.#createDatabase();
		await this.#start(this.pooler);
		// The first one applies the migrations.
		for (const { part } of this.nodes) await this.#start(part);
	}

	async #start(part: Part): Promise<void> {
		await part.start();
		this.#told(`${part.name} is up`);
	}

	/** The database itself, as its administrator, past PgBouncer. */
	get databaseUrl(): string {
		return this.#urlOf('tributary');
	}

	/** Asks the leader. @throws the driver's error while no node leads */
	async rows<T extends object>(text: string, values: unknown[] = [], database = 'tributary'): Promise<T[]> {
		const client = new pg.Client({ connectionString: this.#urlOf(database), connectionTimeoutMillis: 3000 });
		client.on('error', () => undefined);
		try {
			await client.connect();
			return (await client.query<T>(text, values)).rows;
		} finally {
			client.end().catch(() => undefined);
		}
	}

	#urlOf(database: string): string {
		return `postgresql://postgres:${this.#password}@127.0.0.1:${this.#databasePort}/${database}`;
	}

	async #createDatabase(): Promise<void> {
		await this.rows(`create role tributary login password '${this.#password}'`, [], 'postgres');
		await this.rows('create database tributary owner tributary', [], 'postgres');
	}

	/** The node that leads; undefined while none does. */
	async leader(): Promise<DatabaseNode | undefined> {
		for (const database of this.databases) if ((await statusOf(`http://${database.address}:8008/primary`)) === 200) return database;
		return undefined;
	}

	/** How many standbys stream, as the leader itself knows it. */
	async #streamingStandbys(): Promise<number> {
		try {
			const [found] = await this.rows<{ n: string }>(
				"select count(*) as n from pg_stat_replication where state = 'streaming'",
				[],
				'postgres',
			);
			return Number(found?.n);
		} catch {
			// While no node leads, nobody knows.
			return 0;
		}
	}

	/**
	 * The standby without which nothing is acknowledged, as Patroni has it on record; undefined while there is none. Before that no standby may lead,
	 * though PostgreSQL may call one synchronous already.
	 */
	async synchronousStandby(): Promise<DatabaseNode | undefined> {
		for (const database of this.databases) if ((await statusOf(`http://${database.address}:8008/sync`)) === 200) return database;
		return undefined;
	}

	/** Resolves when there is a leader, a synchronous standby and so many standbys that stream. @throws Error after two minutes */
	async standsBy(count: number, msMax = 120_000): Promise<void> {
		for (const untilMs = Date.now() + msMax; ; await pause(500)) {
			const [streaming, synchronous] = await Promise.all([this.#streamingStandbys(), this.synchronousStandby()]);
			if (streaming >= count && synchronous !== undefined) return;
			if (Date.now() > untilMs) {
				const leader = await this.leader();
				throw new Error(
					`after ${msMax / 1000} s the database has ${leader?.part.name ?? 'no leader'}, ${synchronous?.part.name ?? 'no synchronous standby'}, ${streaming} standbys`,
				);
			}
		}
	}

	#path(name: string): string {
		return join(this.folder, name);
	}

	#etcdPart({ namespace, address }: { namespace: string; address: string }): Part {
		const url = `http://${address}:2379`;
		const peers = `http://${address}:2380`;
		return new Part({
			name: 'etcd',
			command: [
				...(['etcd', '--name', 'etcd', '--data-dir', this.#path('etcd')] as const),
				...['--listen-client-urls', url, '--advertise-client-urls', url, '--listen-peer-urls', peers],
				...['--initial-advertise-peer-urls', peers, '--initial-cluster', `etcd=${peers}`],
			],
			logPath: this.#path('etcd.log'),
			network: namespace,
			isUp: async () => (await statusOf(`${url}/health`)) === 200,
		});
	}

	#databaseNode(name: string, host: number, etcd: string, owner: { uid: number; gid: number }): DatabaseNode {
		const { namespace, address } = this.network.add(name, host);
		const folder = this.#path(name);
		mkdirSync(folder, { mode: 0o700 });
		const settings = join(folder, 'patroni.yaml');
		const values = { NAME: name, ADDRESS: address, ETCD: etcd, FOLDER: folder, PASSWORD: this.#password, NETWORK: this.network.cidr };
		writeFileSync(settings, filled('patroni.yaml', { ...values, PG_BIN: postgresFolder() ?? '' }), { mode: 0o600 });
		for (const path of [folder, settings]) chownSync(path, owner.uid, owner.gid);
		const part = new Part({
			name,
			command: ['setpriv', `--reuid=${owner.uid}`, `--regid=${owner.gid}`, '--clear-groups', 'patroni', settings],
			environment: { HOME: folder },
			logPath: this.#path(`${name}.log`),
			network: namespace,
			isUp: async () => (await statusOf(`http://${address}:8008/health`)) === 200,
			startMsMax: 180_000,
		});
		return { part, namespace, address };
	}

	#serviceNode(name: string, port: () => number, poolerPort: number): ServiceNode {
		const ports = Object.fromEntries([...surfaces, 'admin', 'ops'].map((surface) => [surface, port()]));
		const objects = this.#path('objects');
		mkdirSync(objects, { recursive: true });
		const part = new Part({
			name,
			command: [process.execPath, join(root, 'src/start.mjs'), 'start'],
			environment: {
				...Object.fromEntries(Object.entries(ports).map(([surface, value]) => [`${surface.toUpperCase()}_PORT`, String(value)])),
				DATABASE_URL: `postgresql://tributary:${this.#password}@127.0.0.1:${poolerPort}/tributary?pooling=${this.pooling.pooling}`,
				DATA_DIR: this.#path(name),
				OBJECT_STORE_URL: `file:${objects}`,
				TRUSTED_PROXIES: '127.0.0.1',
				PROCESSES: '1',
				LOG_LEVEL: 'warn',
			},
			logPath: this.#path(`${name}.log`),
			isUp: async () => (await statusOf(`http://127.0.0.1:${ports['ops']}/health/ready`)) === 200,
		});
		return { part, ports };
	}

	#haproxyPart(readPort: number): Part {
		const servers = (surface: ClusterSurface) =>
			this.nodes.map(({ part, ports }) => `\tserver ${part.name} 127.0.0.1:${ports[surface]} check port ${ports['ops']}`).join('\n');
		const values = {
			...{ FOLDER: this.folder, DATABASE_PORT: this.#databasePort, READ_PORT: readPort },
			DATABASE_SERVERS: this.databases.map(({ part, address }) => `\tserver ${part.name} ${address}:5432`).join('\n'),
			...Object.fromEntries(
				surfaces.flatMap((surface) => [
					[`${surface.toUpperCase()}_PORT`, this.ports[surface]],
					[`${surface.toUpperCase()}_SERVERS`, servers(surface)],
				]),
			),
		};
		const settings = this.#path('haproxy.cfg');
		writeFileSync(settings, filled('haproxy.cfg', values), { mode: 0o600 });
		return new Part({
			name: 'haproxy',
			command: ['haproxy', '-db', '-f', settings],
			environment: pathed(),
			logPath: this.#path('haproxy.log'),
			isUp: () => listens(this.ports.fhir),
		});
	}

	#poolerPart(port: number, owner: { uid: number; gid: number }): Part {
		const folder = this.#path('pooler');
		mkdirSync(folder, { mode: 0o700 });
		const settings = join(folder, 'pgbouncer.ini');
		const users = join(folder, 'users.txt');
		writeFileSync(
			settings,
			filled('pgbouncer.ini', { PREPARED: this.pooling.prepared, FOLDER: folder, DATABASE_PORT: this.#databasePort, POOLER_PORT: port }),
		);
		writeFileSync(users, `"tributary" "${this.#password}"\n`, { mode: 0o600 });
		for (const path of [folder, settings, users]) chownSync(path, owner.uid, owner.gid);
		return new Part({
			name: 'pgbouncer',
			command: ['setpriv', `--reuid=${owner.uid}`, `--regid=${owner.gid}`, '--clear-groups', poolerProgram, settings],
			environment: pathed(),
			logPath: this.#path('pgbouncer.log'),
			isUp: () => listens(port),
		});
	}

	async [Symbol.asyncDispose](): Promise<void> {
		await Promise.all(this.nodes.map(({ part }) => part.stop()));
		await Promise.all([this.pooler, this.haproxy].map((part) => part.stop('SIGTERM', 5000)));
		// Nobody needs a new leader when all of them end.
		for (const { part } of this.databases) part.signalAll('SIGCONT');
		for (const { part } of this.databases) part.signalAll('SIGKILL');
		await Promise.all([...this.databases.map(({ part }) => part), this.etcd].map((part) => part.stop('SIGKILL')));
		this.network[Symbol.dispose]();
		rmSync(this.folder, { recursive: true, force: true });
	}
}

/** PostgreSQL does not run as root. */
function ownerOfDatabases(): { uid: number; gid: number } {
	const number = (flag: string) => Number(spawnSync('id', [flag, 'postgres'], { encoding: 'utf8' }).stdout.trim());
	return { uid: number('-u'), gid: number('-g') };
}
