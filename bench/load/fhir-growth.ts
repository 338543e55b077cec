import { writeFileSync } from 'node:fs';
import { indexedTypes } from '#fhir/search/indexed-types.ts';
import { SearchIndex } from '#storage/search-index.ts';
import { doorTo } from '#test/support/door.ts';
import type { ServiceProcess } from '#test/support/service-process.ts';
import { readRuntimeFile } from '../../src/storage/runtime-file.ts';
import { randomSource } from '../corpus.ts';
import { birthDate, familyName, observationCode, patientId } from './fhir-corpus.ts';
import type { HttpDriver, LoadRequest } from './http-driver.ts';

/**
 * How searches slow down as a site grows. Each size is a database of its own, loaded by `$import`, which copies its rows; five observations for
 * each patient. The index of elements is filled before anything is measured.
 */

interface Subject {
	service: ServiceProcess;
	port: number;
	key: string;
}

interface Figures {
	p50Ms: number;
	p99Ms: number;
	perSecond: number;
	failed: number;
}

type Measured = Record<string, Figures>;

/** A search for each parameter, by a value of the corpus. */
function searches(size: number): Record<string, () => string> {
	const random = randomSource(size);
	const any = () => Math.floor(random() * size);
	const two = (number: number) => String(number).padStart(2, '0');
	const day = () => {
		const index = any();
		return `2024-${two(1 + (index % 12))}-${two(1 + (index % 28))}`;
	};
	return {
		'read Patient': () => `Patient/${patientId(any())}`,
		'Patient?identifier': () => `Patient?identifier=urn:oid:2.16.840.1.113883.19.3%7CM${any()}`,
		'Patient?name': () => `Patient?name=${familyName(any()).slice(-7)}`,
		'Patient?family': () => `Patient?family=${familyName(any())}`,
		'Patient?birthdate': () => `Patient?birthdate=${birthDate(any())}`,
		'Patient?gender': () => 'Patient?gender=male',
		'Patient?phone': () => `Patient?phone=(312)555-${String(any() % 10_000).padStart(4, '0')}`,
		'Patient?email': () => `Patient?email=p${any()}@example.org`,
		'Patient?address-city': () => 'Patient?address-city=Northfield',
		'Patient?_lastUpdated': () => 'Patient?_lastUpdated=gt2099',
		'Patient?_has': () => `Patient?_has:Observation:patient:code=${observationCode(any())}&identifier=M${any()}`,
		'Patient?_revinclude': () => `Patient?_id=${patientId(any())}&_revinclude=Observation:patient`,
		'Observation?patient': () => `Observation?patient=${patientId(any())}`,
		'Observation?patient&code': () => `Observation?patient=${patientId(any())}&code=${observationCode(any())}`,
		'Observation?patient&_sort=-date': () => `Observation?patient=${patientId(any())}&_sort=-date`,
		'Observation?patient.identifier': () => `Observation?patient.identifier=M${any()}`,
		'Observation?code': () => `Observation?code=${observationCode(any())}`,
		'Observation?combo-code': () => `Observation?combo-code=${observationCode(any())}`,
		'Observation?category': () => 'Observation?category=laboratory',
		'Observation?category, rare': () => 'Observation?category=survey',
		'Observation?date': () => `Observation?date=${day()}`,
		'Observation?value-quantity': () => `Observation?value-quantity=${((any() % 400) / 10 + 1).toFixed(1)}`,
		'Observation?code-value-quantity': () => `Observation?code-value-quantity=${observationCode(any())}$gt40`,
		'Observation?status, rare': () => 'Observation?status=amended',
		'Observation?_include': () => `Observation?patient=${patientId(any())}&_include=Observation:patient`,
	};
}

/** Rows are taken in ten seconds after they were written. */
async function indexed({ service }: Subject): Promise<void> {
	const door = doorTo(readRuntimeFile(service.dataDir)?.databaseUrl ?? '');
	const index = new SearchIndex({ connection: door.indexing, types: indexedTypes, pace: 0 });
	const startedMs = performance.now();
	try {
		await new Promise((resolve) => setTimeout(resolve, 11_000));
		while (!(await index.round()));
		await door.people.rows({ text: 'vacuum analyze search_entry' }, []);
	} finally {
		await door.close();
	}
	console.log(`index of elements: filled ${((performance.now() - startedMs) / 1000).toFixed(1)} s after the import`);
}

export async function measureGrowth(
	sizes: readonly number[],
	driver: HttpDriver,
	{ connections, seconds, contentType }: { connections: number; seconds: number; contentType: string },
	withLoaded: (size: number, use: (subject: Subject) => Promise<void>) => Promise<void>,
): Promise<void> {
	const bySize = new Map<number, Measured>();
	for (const size of sizes) {
		await withLoaded(size, async (subject) => {
			await indexed(subject);
			const measured: Measured = {};
			for (const [name, next] of Object.entries(searches(size))) {
				const requests = Array.from(
					{ length: 2000 },
					(): LoadRequest => ({ method: 'GET', path: `/fhir/${next()}${name.startsWith('read') ? '' : '&_count=20'}` }),
				);
				const { p50Ms, p99Ms, perSecond, failed } = await driver.run({
					port: subject.port,
					key: subject.key,
					requests,
					connections,
					seconds,
					contentType,
				});
				measured[name] = { p50Ms, p99Ms, perSecond, failed };
			}
			bySize.set(size, measured);
		});
	}
	report(bySize, connections);
}

function report(bySize: ReadonlyMap<number, Measured>, connections: number): void {
	const sizes = [...bySize.keys()];
	const [smallest = {}] = bySize.values();
	console.log(`\n${connections} connections; p50 and p99 in ms, and how many times as long the median takes as with ${sizes[0]} patients`);
	console.log(`| search | ${sizes.map((size) => `${size.toLocaleString('en')} | p99 | ×`).join(' | ')} |`);
	console.log(`| --- | ${sizes.map(() => '---: | ---: | ---:').join(' | ')} |`);
	for (const [name, first] of Object.entries(smallest)) {
		const cells = [...bySize.values()].map((measured) => {
			const { p50Ms = 0, p99Ms = 0, failed = 0 } = measured[name] ?? {};
			return `${p50Ms.toFixed(1)}${failed === 0 ? '' : ` (${failed} failed)`} | ${p99Ms.toFixed(1)} | ${(p50Ms / Math.max(first.p50Ms, 0.1)).toFixed(2)}`;
		});
		console.log(`| ${name} | ${cells.join(' | ')} |`);
	}
	const path = process.env['FHIR_BENCH_JSON'];
	const json = JSON.stringify({ connections, sizes: Object.fromEntries(bySize) });
	if (path === undefined) console.log(json);
	else writeFileSync(path, `${json}\n`);
}
