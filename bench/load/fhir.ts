import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { randomSource } from '../corpus.ts';
import type { SuiteOptions } from '../suite/options.ts';
import type { Recorder } from '../suite/recorder.ts';
import { Subject } from '../suite/subject.ts';
import { birthDate, familyName, observation, observationCode, patient, patientId } from './fhir-corpus.ts';
import { loadCorpus } from './fhir-import.ts';
import { type HttpDriver, httpDrivers, type LoadRequest } from './http-driver.ts';
import { closedHttp, type HttpWork, openHttp } from './http-lines.ts';

/**
 * FHIR over HTTP: a site with so many patients and five observations of each, loaded by `$import`. FHIR_BENCH_PATIENTS lists the sizes (12000),
 * FHIR_BENCH_CONNECTIONS the numbers of connections (1,16,64).
 */
const contentType = 'application/fhir+json';

export function workloads(size: number): Record<string, () => LoadRequest> {
	const random = randomSource(size);
	const any = () => Math.floor(random() * size);
	let next = 10_000_000;
	return {
		read: () => ({ method: 'GET', path: `/fhir/Patient/${patientId(any())}` }),
		'?identifier=': () => ({ method: 'GET', path: `/fhir/Patient?identifier=urn:oid:2.16.840.1.113883.19.3%7CM${any()}` }),
		'?name=': () => ({ method: 'GET', path: `/fhir/Patient?name=${familyName(any()).slice(-7)}&_count=20` }),
		// How common a name is decides which way of searching is quick: a tenth of the patients have this one, and three in a hundred the next.
		'?name, many=': () => ({ method: 'GET', path: `/fhir/Patient?name=${familyName(any()).split('-')[0]}&_count=20` }),
		'?name, some=': () => ({ method: 'GET', path: `/fhir/Patient?name=${familyName(any()).slice(-4)}&_count=20` }),
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

/** The tables that creates fill. */
const created: Readonly<Record<string, string>> = { create: 'patient', 'Observation create': 'observation' };

export function fhirWork(name: string, size: number, next = workloads(size)[name]): HttpWork {
	if (next === undefined) throw new Error(`there is no work ${name}`);
	const table = created[name];
	const isWrite = table !== undefined || name === 'update';
	return {
		section: 'fhir',
		name: `FHIR ${name}`,
		surface: 'fhir',
		contentType,
		next,
		perSecond: isWrite ? 12_000 : 2000,
		...(table && { stored: (subject: Subject) => subject.number(`select count(*) from ${table} where site_id = $1`, [subject.siteId]) }),
	};
}

/** The yardstick of a read: the same server library answers the same bytes from memory. */
async function staticAnswer(
	subject: Subject,
	driver: HttpDriver,
	{ connections, recorder, options }: { connections: number; recorder: Recorder; options: SuiteOptions },
): Promise<void> {
	const url = `http://127.0.0.1:${subject.port('fhir')}/fhir/Patient/${patientId(1)}`;
	const sample = await (await fetch(url, { headers: { 'X-API-Key': subject.key } })).text();
	const server = spawn(process.execPath, ['--import', 'tsx', join(import.meta.dirname, 'static-server.ts'), sample], {
		stdio: ['ignore', 'pipe', 'inherit'],
	});
	try {
		const port = await new Promise<number>((resolve) => server.stdout.once('data', (chunk) => resolve(Number(String(chunk)))));
		const seconds = Math.max(1, Math.round(options.seconds));
		const result = await driver.run({
			port,
			key: subject.key,
			requests: [{ method: 'GET', path: '/' }],
			connections,
			seconds,
			contentType,
		});
		const saturated = result.driverShare >= 0.9 ? 'the driver' : 'the server';
		recorder.line({
			section: 'fhir',
			work: 'the same answer from memory',
			subject: 'uWebSockets.js',
			kind: 'limit',
			connections,
			...result,
			driver: driver.name,
			saturated,
		});
	} finally {
		server.kill();
	}
}

export async function fhir(recorder: Recorder, options: SuiteOptions): Promise<void> {
	const drivers = httpDrivers();
	const sizes = (process.env['FHIR_BENCH_PATIENTS'] ?? (options.isQuick ? '500' : '12000')).split(',').map(Number);
	const counts = (process.env['FHIR_BENCH_CONNECTIONS'] ?? (options.isQuick ? '16' : '1,16,64')).split(',').map(Number);
	for (const size of sizes) {
		await using subject = await Subject.open('Tributary');
		recorder.database = await subject.settings();
		await loadCorpus(subject, size, recorder);
		const most = new Map<string, number>();
		for (const connections of counts) {
			for (const driver of drivers) await staticAnswer(subject, driver, { connections, recorder, options });
			for (const [name, next] of Object.entries(workloads(size))) {
				// At other loads than 16 connections, a few are enough.
				if ((connections !== 16 || options.isQuick) && !['read', '?name=', 'create', 'update'].includes(name)) continue;
				const result = await closedHttp(subject, fhirWork(name, size, next), { drivers, connections, recorder, options });
				most.set(name, result?.perSecond ?? 0);
			}
		}
		for (const name of ['read', 'create']) {
			for (const part of options.isQuick ? [0.3] : [0.1, 0.2, 0.3, 0.4]) {
				await openHttp(subject, fhirWork(name, size), { perSecond: (most.get(name) ?? 0) * part, connections: 64, recorder, options });
			}
		}
	}
}
