import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import pg from 'pg';
import { ServiceProcess } from '#test/support/service-process.ts';
import { readRuntimeFile } from '../../src/storage/runtime-file.ts';
import { benchKey } from './bench-key.ts';
import { cpuSecondsOf, databaseCpuSeconds } from './processor.ts';

/**
 * Transactions of Synthea on embedded PostgreSQL with fsync: the files in TRIBUTARY_BUNDLES, those of hospitals and practitioners first and one after
 * the other, the patients then over FHIR_BENCH_CONNECTIONS connections (8). FHIR_BENCH_ROUNDS (1) says how often the patients are posted; each
 * time they become new resources.
 */
const connections = Number(process.env['FHIR_BENCH_CONNECTIONS'] ?? 8);
const rounds = Number(process.env['FHIR_BENCH_ROUNDS'] ?? 1);

/** Recorded by others on other machines (docs/performance.md); nothing here is compared with them. */
const recorded = 'recorded by others: Blaze 23,829 resources/s on 128 cores, Aidbox 2,678 and HAPI 2,214 on 8 cores';

interface Bundle {
	text: string;
	resources: number;
}

function bundleOf(path: string): Bundle {
	const text = readFileSync(path, 'utf8');
	return { text, resources: (JSON.parse(text) as { entry: unknown[] }).entry.length };
}

const quantile = (sorted: readonly number[], part: number) => sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))] ?? 0;

class Load {
	readonly tookMs: number[] = [];
	readonly #url: string;
	readonly #key: string;

	constructor(port: number, key: string) {
		this.#url = `http://127.0.0.1:${port}/fhir`;
		this.#key = key;
	}

	async post({ text }: Bundle): Promise<void> {
		const startedMs = performance.now();
		const headers = { 'X-API-Key': this.#key, 'Content-Type': 'application/fhir+json', Prefer: 'return=minimal' };
		const answer = await fetch(this.#url, { method: 'POST', headers, body: text });
		const answered = await answer.text();
		if (answer.status !== 200) throw new Error(`a bundle was answered ${answer.status}: ${answered.slice(0, 500)}`);
		this.tookMs.push(performance.now() - startedMs);
	}

	async postAll(bundles: readonly Bundle[]): Promise<void> {
		let next = 0;
		const send = async () => {
			for (let bundle = bundles[next++]; bundle !== undefined; bundle = bundles[next++]) await this.post(bundle);
		};
		await Promise.all(Array.from({ length: connections }, send));
	}
}

async function told(client: pg.Client): Promise<{ settings: string; walBytes: number }> {
	const names = "('server_version', 'fsync', 'synchronous_commit', 'full_page_writes', 'shared_buffers')";
	const settings = await client.query(
		`select string_agg(name || '=' || setting, ', ' order by name) as line from pg_settings where name in ${names}`,
	);
	const wal = await client.query("select pg_current_wal_lsn() - '0/0'::pg_lsn as bytes");
	return { settings: settings.rows[0].line, walBytes: Number(wal.rows[0].bytes) };
}

export async function run(): Promise<void> {
	const directory = process.env['TRIBUTARY_BUNDLES'];
	if (directory === undefined || !existsSync(directory)) {
		console.log('skipped: TRIBUTARY_BUNDLES names no directory of FHIR bundles');
		return;
	}
	const names = readdirSync(directory).filter((name) => name.endsWith('.json'));
	const [places, people] = [true, false].map((isFirst) =>
		names.filter((name) => name.startsWith('0-') === isFirst).map((name) => bundleOf(join(directory, name))),
	);
	await using service = new ServiceProcess({ LOG_LEVEL: 'warn' });
	await service.start();
	const key = await benchKey(service);
	const { code, stderr } = await service.cli('site', 'set', 'bench', '--report-writes', 'on');
	if (code !== 0) throw new Error(stderr);
	const client = new pg.Client({ connectionString: readRuntimeFile(service.dataDir)?.databaseUrl });
	await client.connect();
	const { settings } = await told(client);
	console.log(`PostgreSQL: ${settings}\n${recorded}`);
	const first = new Load(service.port('fhir'), key);
	for (const bundle of places ?? []) await first.post(bundle);
	const load = new Load(service.port('fhir'), key);
	const posted = Array.from({ length: rounds }, () => people ?? []).flat();
	const before = { cpu: [cpuSecondsOf(service.pid), databaseCpuSeconds(service.databasePid)], wal: (await told(client)).walBytes };
	const startedMs = performance.now();
	await load.postAll(posted);
	const seconds = (performance.now() - startedMs) / 1000;
	const after = { cpu: [cpuSecondsOf(service.pid), databaseCpuSeconds(service.databasePid)], wal: (await told(client)).walBytes };
	await client.end();
	const resources = posted.reduce((sum, bundle) => sum + bundle.resources, 0);
	const sorted = load.tookMs.toSorted((left, right) => left - right);
	const cpu = after.cpu.map((used, index) => (used - (before.cpu[index] ?? 0)).toFixed(1));
	const walBytes = after.wal - before.wal;
	console.log(
		`${posted.length} transactions with ${resources} resources over ${connections} connections in ${seconds.toFixed(1)} s: ${Math.round(resources / seconds)} resources/s, ${(posted.length / seconds).toFixed(2)} bundles/s`,
	);
	console.log(`p50 ${quantile(sorted, 0.5).toFixed(0)} ms, p99 ${quantile(sorted, 0.99).toFixed(0)} ms`);
	console.log(
		`CPU: service ${cpu[0]} s, database ${cpu[1]} s; WAL ${Math.round(walBytes / 1024)} KiB, ${Math.round(walBytes / resources)} bytes a resource`,
	);
}
