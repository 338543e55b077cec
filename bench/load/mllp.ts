import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { insertSites, type PlainSite } from '#test/support/many-sites.ts';
import { ServiceProcess } from '#test/support/service-process.ts';
import { readRuntimeFile } from '../../src/storage/runtime-file.ts';
import { compile } from '../compiler.ts';
import { admission, observationReport } from '../corpus.ts';
import { runLoad } from './run-load.ts';

/** Durable HL7 v2 messages a second over MLLP: embedded PostgreSQL with fsync, 16 sites, 60 % ORU (4 OBX), 40 % ADT. */
export interface LoadResult {
	answers: number;
	perSecond: number;
	notAccepted: number;
	disordered: number;
	p50Ms: number;
	p99Ms: number;
	maxMs: number;
}

const siteCount = 16;
const patientsOfSite = 500;

/** Every ADT changes the patient (a telephone number) and opens a visit; every ORU brings four new observations. */
function message(sequence: number, patient: number): string {
	if (sequence % 10 < 6) return observationReport(1, sequence, patient, 4);
	const number = String(sequence).padStart(7, '0');
	return admission(1, sequence, patient).replace(/\(312\)555-\d{4}\^PRN/, `(312)${number}^PRN`);
}

export function writeMessages(path: string, from: number, count: number): void {
	const parts: Buffer[] = [];
	for (let index = 0; index < count; index++) {
		const bytes = Buffer.from(message(from + index, (from + index) % patientsOfSite));
		const length = Buffer.alloc(4);
		length.writeUInt32LE(bytes.length);
		parts.push(length, bytes);
	}
	writeFileSync(path, Buffer.concat(parts));
}

export async function prepared(service: ServiceProcess): Promise<PlainSite[]> {
	const databaseUrl = readRuntimeFile(service.dataDir)?.databaseUrl ?? '';
	await service.cli('user', 'add', 'bench@example.org', '--admin');
	const sites = await insertSites(databaseUrl, siteCount);
	await new Promise((resolve) => setTimeout(resolve, 1000));
	return sites;
}

async function settings(service: ServiceProcess): Promise<string> {
	const client = new pg.Client({ connectionString: readRuntimeFile(service.dataDir)?.databaseUrl });
	await client.connect();
	const { rows } = await client.query(
		`select name || '=' || setting as line from pg_settings where name in ('server_version', 'fsync', 'synchronous_commit', 'full_page_writes', 'shared_buffers') order by name`,
	);
	await client.end();
	return rows.map(({ line }) => line).join(', ');
}

interface Case {
	name: string;
	connections: number;
	environment: Record<string, string>;
}

const cases: readonly Case[] = [
	{ name: 'batched, 64 connections', connections: 64, environment: {} },
	{ name: 'batched, 16 connections', connections: 16, environment: {} },
	{ name: 'batched, 1 connection (ping-pong)', connections: 1, environment: {} },
	{ name: 'one transaction a message, 64 connections', connections: 64, environment: { BATCH_MESSAGES_MAX: '1' } },
];

export async function run(options: { seconds?: number; rounds?: number } = {}): Promise<void> {
	const { seconds = 8, rounds = 3 } = options;
	const program = compile(join(import.meta.dirname, 'mllp-load.c'), 'mllp-load');
	if (program === undefined) throw new Error('the MLLP load needs a C compiler (cc)');
	const directory = mkdtempSync(join(tmpdir(), 'tributary-bench-'));
	const file = join(directory, 'messages');
	try {
		for (const { name, connections, environment } of cases) {
			await using service = new ServiceProcess({ LOG_LEVEL: 'warn', ...environment });
			await service.start();
			const addresses = (await prepared(service)).map(({ address }) => address);
			if (name === cases[0]?.name) console.log(`PostgreSQL: ${await settings(service)}`);
			const results: LoadResult[] = [];
			for (let round = 0; round <= rounds; round++) {
				writeMessages(file, round * 200_000, connections === 1 ? 20_000 : 150_000);
				const result = await runLoad<LoadResult>(program, [
					String(service.port('mllp')),
					String(connections),
					'1',
					String(round === 0 ? 3 : seconds),
					file,
					...addresses,
				]);
				if (round > 0) results.push(result);
			}
			report(name, results);
		}
	} finally {
		rmSync(directory, { recursive: true, force: true });
	}
}

/** The first round only warms up. */
function report(name: string, results: readonly LoadResult[]): void {
	const rates = results.map(({ perSecond }) => perSecond).sort((left, right) => left - right);
	const median = rates[rates.length >> 1] ?? 0;
	const middle = results.find(({ perSecond }) => perSecond === median);
	console.log(
		`${name.padEnd(44)} ${String(median).padStart(6)} msg/s (${rates[0]}–${rates.at(-1)})  p50 ${middle?.p50Ms.toFixed(2)} ms  p99 ${middle?.p99Ms.toFixed(2)} ms`,
	);
}
