import { indexedTypes } from '#fhir/search/indexed-types.ts';
import { SearchIndex } from '#storage/search-index.ts';
import { doorTo } from '#test/support/door.ts';
import { randomSource } from '../corpus.ts';
import type { SuiteOptions } from '../suite/options.ts';
import type { Recorder } from '../suite/recorder.ts';
import { Subject } from '../suite/subject.ts';
import { birthDate, familyName, observationCode, patientId } from './fhir-corpus.ts';
import { loadCorpus } from './fhir-import.ts';
import { httpDrivers, type LoadRequest, type LoadResult } from './http-driver.ts';

/**
 * How searches slow down as a site grows. Each size is a database of its own, loaded by `$import`, which copies its rows; five observations for
 * each patient. The index of elements is filled before anything is measured. BENCH_GROWTH lists the numbers of patients (1000,10000);
 * 1000,100000,1000000 takes about an hour.
 */

type Measured = Record<string, LoadResult>;

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
async function indexed({ databaseUrl }: Subject): Promise<void> {
	const door = doorTo(databaseUrl);
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

export async function growth(recorder: Recorder, options: SuiteOptions): Promise<void> {
	const sizes = (process.env['BENCH_GROWTH'] ?? (options.isQuick ? '200,400' : '1000,10000')).split(',').map(Number);
	const driver = httpDrivers().at(-1);
	if (driver === undefined) return;
	const connections = 1;
	const seconds = Math.max(1, Math.round(options.seconds / 2));
	const bySize = new Map<number, Measured>();
	for (const size of sizes) {
		await using subject = await Subject.open('Tributary', { sites: 1 });
		recorder.database = await subject.settings();
		await loadCorpus(subject, size, recorder);
		await indexed(subject);
		const measured: Measured = {};
		for (const [name, next] of Object.entries(searches(size))) {
			const requests = Array.from(
				{ length: 2000 },
				(): LoadRequest => ({ method: 'GET', path: `/fhir/${next()}${name.startsWith('read') ? '' : '&_count=20'}` }),
			);
			const load = { port: subject.port('fhir'), key: subject.key, requests, connections, seconds, contentType: 'application/fhir+json' };
			measured[name] = await driver.run(load);
			recorder.line({
				section: 'growth',
				work: `${name}, ${size.toLocaleString('en')} patients`,
				subject: subject.name,
				kind: 'product',
				connections,
				...measured[name],
				driver: driver.name,
			});
		}
		bySize.set(size, measured);
	}
	const names = Object.keys(bySize.values().next().value ?? {});
	recorder.curve({
		section: 'growth',
		title: `Searches as a site grows: median of an answer, ${connections} connection`,
		x: 'patients',
		y: 'ms',
		logarithmic: true,
		series: names.map((name) => ({
			name,
			points: [...bySize]
				.sort(([one], [other]) => one - other)
				.map(([size, measured]): [number, number] => [size, measured[name]?.p50Ms ?? 0]),
		})),
	});
}
