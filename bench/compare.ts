import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ServiceProcess } from '#test/support/service-process.ts';
import { compile } from './compiler.ts';
import { benchKey } from './load/bench-key.ts';
import { loadCorpus, workloads } from './load/fhir.ts';
import { httpDrivers } from './load/http-driver.ts';
import { writeInstances } from './load/instances.ts';
import { prepared, writeMessages } from './load/mllp.ts';
import { runLoad } from './load/run-load.ts';
import { medianInterval } from './median-interval.ts';

/**
 * This checkout beside another one (COMPARE_BASE, a folder with its dependencies installed): the same work in pairs, the order turned in
 * each pair, both services running, one of them idle. Prints for each work the median ratio and its 95 % interval.
 * COMPARE_PAIRS (10) pairs, COMPARE_SECONDS (3) seconds each; COMPARE_WORKS is a part of the names of the works that are wanted.
 */
const pairs = Number(process.env['COMPARE_PAIRS'] ?? 10);
const seconds = Number(process.env['COMPARE_SECONDS'] ?? 3);
const wanted = process.env['COMPARE_WORKS'] ?? '';
const patients = 1000;

interface Subject {
	name: 'this' | 'base';
	service: ServiceProcess;
	key: string;
	addresses: readonly string[];
}

interface Rate {
	perSecond: number;
}

interface Work {
	name: string;
	/** Makes what is sent; both subjects get the same. `pair` counts from 0, the first of which only warms up. */
	prepare(pair: number): Promise<void>;
	run(subject: Subject): Promise<Rate>;
}

async function opened(name: Subject['name'], root: string | undefined): Promise<Subject> {
	const service = new ServiceProcess({ LOG_LEVEL: 'warn' }, root);
	await service.start();
	const key = await benchKey(service);
	await service.cli('site', 'set', 'bench', '--ae-title', 'TRIBUTARY');
	const addresses = (await prepared(service)).map(({ address }) => address);
	await loadCorpus({ service, port: service.port('fhir'), key }, patients);
	return { name, service, key, addresses };
}

function compiled(source: string, name: string): string {
	const program = compile(join(import.meta.dirname, 'load', source), name);
	if (program === undefined) throw new Error(`${name} needs a C compiler (cc)`);
	return program;
}

function mllp(file: string, connections: number): Work {
	const program = compiled('mllp-load.c', 'mllp-load');
	return {
		name: `MLLP, ${connections} connection${connections > 1 ? 's' : ''}`,
		prepare: async (pair) => writeMessages(file, (pair * 2 + (connections > 1 ? 1 : 0)) * 100_000, connections > 1 ? 60_000 : 10_000),
		run: ({ service, addresses }) =>
			runLoad<Rate>(program, [String(service.port('mllp')), String(connections), '1', String(seconds), file, ...addresses]),
	};
}

function store(file: string, name: string, associations: number, count: number, pixelBytes: number, firstBatch: number): Work {
	const program = compiled('store-load.c', 'store-load');
	return {
		name: `C-STORE ${name}, ${associations} associations`,
		prepare: (pair) => writeInstances(file, { batch: firstBatch + pair, count, pixelBytes }),
		run({ service }) {
			spawnSync('sync');
			return runLoad<Rate>(program, [String(service.port('dimse')), 'TRIBUTARY', String(associations), '0', file]);
		},
	};
}

function fhir(name: string): Work {
	const next = workloads(patients)[name];
	const driver = httpDrivers().at(-1);
	if (next === undefined || driver === undefined) throw new Error(`there is no work ${name}`);
	let requests = [next()];
	return {
		name: `FHIR ${name} (${driver.name})`,
		prepare: async () => {
			requests = Array.from({ length: 4000 }, next);
		},
		run: ({ service, key }) =>
			driver.run({ port: service.port('fhir'), key, requests, connections: 16, seconds, contentType: 'application/fhir+json' }),
	};
}

export async function run(): Promise<void> {
	const base = process.env['COMPARE_BASE'];
	if (base === undefined) throw new Error('COMPARE_BASE names the folder of the other checkout');
	const directory = mkdtempSync(join(tmpdir(), 'tributary-compare-'));
	const subjects: Subject[] = [];
	try {
		subjects.push(await opened('this', undefined), await opened('base', base));
		const commit = spawnSync('git', ['-C', base, 'rev-parse', '--short', 'HEAD'], { encoding: 'utf8' }).stdout.trim();
		console.log(`base: ${commit}; ${pairs} pairs of ${seconds} s, the order turned in each; ratios above 1 mean that this one is faster`);
		const file = (name: string) => join(directory, name);
		const works = [
			mllp(file('mllp-64'), 64),
			mllp(file('mllp-1'), 1),
			fhir('read'),
			fhir('Observation?patient='),
			fhir('create'),
			store(file('small'), '10 KB', 8, 2000, 8600, 1000),
			store(file('large'), '525 KB', 4, 250, 524_288, 5000),
		];
		for (const work of works.filter(({ name }) => name.includes(wanted))) await compare(work, subjects);
	} finally {
		for (const { service } of subjects) await service[Symbol.asyncDispose]();
		rmSync(directory, { recursive: true, force: true });
	}
}

async function compare(work: Work, subjects: readonly Subject[]): Promise<void> {
	const ratios: number[] = [];
	const rates: number[] = [];
	for (let pair = 0; pair <= pairs; pair++) {
		await work.prepare(pair);
		const found = new Map<Subject['name'], number>();
		for (const subject of pair % 2 === 0 ? subjects : subjects.toReversed()) found.set(subject.name, (await work.run(subject)).perSecond);
		const [own = Number.NaN, other = Number.NaN] = [found.get('this'), found.get('base')];
		if (pair === 0) continue;
		ratios.push(own / other);
		rates.push(own);
	}
	const { median, low, high } = medianInterval(ratios);
	const rate = Math.round(medianInterval(rates).median);
	console.log(`${work.name.padEnd(40)} ${String(rate).padStart(6)}/s  ratio ${median.toFixed(3)} (${low.toFixed(3)}–${high.toFixed(3)})`);
}
