import { spawn } from 'node:child_process';
import { createReadStream, mkdtempSync, rmSync, statSync } from 'node:fs';
import { request as httpRequest } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { ServiceProcess } from '#test/support/service-process.ts';
import { readRuntimeFile } from '../../src/storage/runtime-file.ts';
import { randomSource } from '../corpus.ts';
import { benchKey } from './bench-key.ts';
import { birthDate, familyName, observation, observationCode, patient, patientId, writeCorpus } from './fhir-corpus.ts';
import { measureGrowth } from './fhir-growth.ts';
import { figures, type HttpDriver, httpDrivers, type LoadRequest, type LoadResult } from './http-driver.ts';
import { cpuSecondsOf, databaseCpuSeconds } from './processor.ts';

/**
 * FHIR over HTTP on embedded PostgreSQL with fsync: a site with so many patients and five observations of each, loaded by
 * `$import`. FHIR_BENCH_PATIENTS lists the sizes (1000), FHIR_BENCH_CONNECTIONS the numbers of connections (1,16,128), FHIR_BENCH_SECONDS
 * is how long each request runs (5). FHIR_BENCH_GROWTH=1000,100000,1000000 measures instead how each search slows down from the first size on;
 * FHIR_BENCH_JSON names a file for its figures.
 */
const sizes = (process.env['FHIR_BENCH_PATIENTS'] ?? '1000').split(',').map(Number);
const connectionCounts = (process.env['FHIR_BENCH_CONNECTIONS'] ?? '1,16,128').split(',').map(Number);
const seconds = Number(process.env['FHIR_BENCH_SECONDS'] ?? 5);
const requestCount = 4000;
const contentType = 'application/fhir+json';

/** Medplum 5.0.10 with PostgreSQL and Redis, 16 connections, on this kind of machine (docs/performance.md). */
const peers: Readonly<Record<string, number>> = {
	read: 855,
	create: 218,
	'Observation create': 183,
	'?identifier=': 568,
	'?name=': 493,
	'Observation?patient=': 783,
	'Observation?patient=&code=': 633,
};

export function workloads(size: number): Record<string, () => LoadRequest> {
	const random = randomSource(size);
	const any = () => Math.floor(random() * size);
	let next = 10_000_000;
	return {
		read: () => ({ method: 'GET', path: `/fhir/Patient/${patientId(any())}` }),
		'?identifier=': () => ({ method: 'GET', path: `/fhir/Patient?identifier=urn:oid:2.16.840.1.113883.19.3%7CM${any()}` }),
		'?name=': () => ({ method: 'GET', path: `/fhir/Patient?name=${familyName(any()).slice(-7)}&_count=20` }),
		'?birthdate=': () => ({ method: 'GET', path: `/fhir/Patient?birthdate=${birthDate(any())}&_count=20` }),
		'?gender=': () => ({ method: 'GET', path: `/fhir/Patient?gender=${any() % 2 === 0 ? 'male' : 'female'}&_count=20` }),
		'Patient?': () => ({ method: 'GET', path: '/fhir/Patient?_count=20' }),
		'Observation?patient=': () => ({ method: 'GET', path: `/fhir/Observation?patient=Patient/${patientId(any())}` }),
		'Observation?patient=&code=': () => {
			const index = any();
			return { method: 'GET', path: `/fhir/Observation?patient=Patient/${patientId(index)}&code=${observationCode(index * 5)}` };
		},
		'Observation?code=': () => ({ method: 'GET', path: `/fhir/Observation?code=${observationCode(any())}&_count=20` }),
		_include: () => ({
			method: 'GET',
			path: `/fhir/Observation?patient=Patient/${patientId(any())}&_include=Observation:patient`,
		}),
		create: () => ({ method: 'POST', path: '/fhir/Patient', body: patient(next++) }),
		'Observation create': () => ({ method: 'POST', path: '/fhir/Observation', body: observation(patientId(any()), next++) }),
		update: () => {
			const index = any();
			return {
				method: 'PUT',
				path: `/fhir/Patient/${patientId(index)}`,
				body: patient(index, { id: patientId(index), multipleBirthInteger: next++ % 1000 }),
			};
		},
	};
}

export interface Subject {
	service: ServiceProcess;
	port: number;
	key: string;
}

async function post(subject: Subject, path: string, file: string): Promise<string> {
	const headers = { 'X-API-Key': subject.key, 'Content-Type': 'application/fhir+ndjson', 'Content-Length': statSync(file).size };
	return new Promise((resolve, reject) => {
		const sent = httpRequest({ host: '127.0.0.1', port: subject.port, path, method: 'POST', headers }, (answer) => {
			answer.resume();
			answer.on('end', () =>
				answer.statusCode === 202 ? resolve(String(answer.headers['content-location'])) : reject(new Error(`import: ${answer.statusCode}`)),
			);
		});
		sent.on('error', reject);
		createReadStream(file).pipe(sent);
	});
}

/** Waits for a job; answers its manifest. */
async function finished(subject: Subject, url: string): Promise<void> {
	for (;;) {
		const answer = await fetch(url, { headers: { 'X-API-Key': subject.key } });
		const text = await answer.text();
		if (answer.status === 200) return;
		if (answer.status !== 202) throw new Error(`the job ended with ${answer.status}: ${text.slice(0, 500)}`);
		await new Promise((resolve) => setTimeout(resolve, 100));
	}
}

export async function loadCorpus(subject: Subject, size: number): Promise<void> {
	const directory = mkdtempSync(join(tmpdir(), 'tributary-fhir-bench-'));
	try {
		const file = join(directory, 'corpus.ndjson');
		await writeCorpus(file, size);
		const bytes = statSync(file).size;
		let started = performance.now();
		await finished(subject, await post(subject, '/fhir/$import', file));
		const took = (performance.now() - started) / 1000;
		console.log(
			`$import: ${size * 6} resources, ${Math.round(bytes / 2 ** 20)} MiB in ${took.toFixed(1)} s: ${Math.round((size * 6) / took)}/s`,
		);
		started = performance.now();
		const kickOff = await fetch(`http://127.0.0.1:${subject.port}/fhir/$export`, {
			headers: { 'X-API-Key': subject.key, Prefer: 'respond-async', Accept: 'application/fhir+json' },
		});
		await finished(subject, String(kickOff.headers.get('content-location')));
		const exported = (performance.now() - started) / 1000;
		console.log(`$export: ${size * 6} resources in ${exported.toFixed(1)} s: ${Math.round((size * 6) / exported)}/s`);
		await vacuum(subject);
	} finally {
		rmSync(directory, { recursive: true, force: true });
	}
}

/** What autovacuum does sooner or later. It never comes to a table that is empty, of which the planner would then expect no row. */
async function vacuum({ service }: Subject): Promise<void> {
	const client = new pg.Client({ connectionString: readRuntimeFile(service.dataDir)?.databaseUrl });
	await client.connect();
	const { rows } = await client.query<{ filled: string }>(
		"select string_agg(oid::regclass::text, ', ') as filled from pg_class where relkind = 'r' and relnamespace = 'public'::regnamespace and pg_relation_size(oid) > 0",
	);
	await client.query(`vacuum analyze ${rows[0]?.filled}`);
	await client.end();
}

async function staticRate(subject: Subject, driver: HttpDriver, connections: number): Promise<LoadResult> {
	const sample = await fetch(`http://127.0.0.1:${subject.port}/fhir/Patient/${patientId(1)}`, { headers: { 'X-API-Key': subject.key } });
	const server = spawn(process.execPath, ['--import', 'tsx', join(import.meta.dirname, 'static-server.ts'), await sample.text()], {
		stdio: ['ignore', 'pipe', 'inherit'],
	});
	try {
		const port = await new Promise<number>((resolve) => server.stdout.once('data', (chunk) => resolve(Number(String(chunk)))));
		return await driver.run({ port, key: subject.key, requests: [{ method: 'GET', path: '/' }], connections, seconds, contentType });
	} finally {
		server.kill();
	}
}

/** Seconds of processor time: of the service, of the database. */
function cpuOf({ service }: Subject): readonly [number, number] {
	return [cpuSecondsOf(service.pid), databaseCpuSeconds(service.databasePid)];
}

async function measure(subject: Subject, driver: HttpDriver, size: number): Promise<void> {
	for (const connections of connectionCounts) {
		const yardstick = await staticRate(subject, driver, connections);
		console.log(`\n${driver.name}, ${size} patients, ${connections} connections\n${'uWS, one patient'.padEnd(28)} ${figures(yardstick)}`);
		for (const [name, next] of Object.entries(workloads(size))) {
			const requests = Array.from({ length: name.includes('create') || name === 'update' ? 40_000 : requestCount }, () => next());
			const before = cpuOf(subject);
			const result = await driver.run({ port: subject.port, key: subject.key, requests, connections, seconds, contentType });
			const total = result.perSecond * seconds;
			const cpu = cpuOf(subject).map((used, index) => (((used - (before[index] ?? 0)) * 1e6) / total).toFixed(0));
			const peer = connections === 16 && peers[name] ? `  ${(result.perSecond / peers[name]).toFixed(1)} × peer` : '';
			const share = name === 'read' ? `  ${(result.perSecond / yardstick.perSecond).toFixed(2)} of uWS` : '';
			console.log(`${name.padEnd(28)} ${figures(result)}  CPU service ${cpu[0]} µs, database ${cpu[1]} µs${share}${peer}`);
		}
	}
}

export async function run(): Promise<void> {
	const drivers = httpDrivers();
	for (const { version } of drivers) console.log(version);
	const growth = process.env['FHIR_BENCH_GROWTH'];
	const [driver] = drivers;
	if (growth !== undefined && driver !== undefined) {
		const load = { connections: connectionCounts[0] ?? 1, seconds, contentType };
		await measureGrowth(growth.split(',').map(Number), driver, load, withLoaded);
		return;
	}
	for (const size of sizes) {
		await withLoaded(size, async (subject) => {
			for (const each of drivers) await measure(subject, each, size);
		});
	}
}

async function withLoaded(size: number, use: (subject: Subject) => Promise<void>): Promise<void> {
	await using service = new ServiceProcess({ LOG_LEVEL: 'warn' });
	await service.start();
	const subject = { service, port: service.port('fhir'), key: await benchKey(service) };
	await loadCorpus(subject, size);
	await use(subject);
}
