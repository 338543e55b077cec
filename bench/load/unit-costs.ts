import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { SuiteOptions } from '../suite/options.ts';
import type { Recorder } from '../suite/recorder.ts';
import { Subject } from '../suite/subject.ts';
import { fhirWork, workloads } from './fhir.ts';
import { loadCorpus } from './fhir-import.ts';
import { httpDrivers } from './http-driver.ts';
import { writeInstances } from './instances.ts';
import { mllpDriver } from './mllp-driver.ts';
import { storeDriver } from './store-driver.ts';

/**
 * Measures what one piece of each kind of work costs when the service is busy: processor time of service and database, write-ahead log, bytes that
 * remain (rows, indexes, files). docs/capacity.md is computed from these.
 */
const patients = 2000;

/** Bytes of database and objects. No checkpoint comes before: it would have the pages that follow logged whole, and be counted as WAL. */
async function storedBytes(subject: Subject): Promise<number> {
	const objects = spawnSync('du', ['-sb', join(subject.service.dataDir, 'objects')], { encoding: 'utf8' });
	const files = objects.status === 0 ? Number(objects.stdout.split('\t')[0]) : 0;
	return files + (await subject.number('pg_database_size(current_database())'));
}

async function cost(
	subject: Subject,
	recorder: Recorder,
	work: string,
	run: () => Promise<{ done: number; driverShare: number }>,
): Promise<void> {
	const before = { bytes: await storedBytes(subject), wal: await subject.walBytes() };
	const used = subject.observe();
	const startedMs = performance.now();
	const { done, driverShare } = await run();
	const seconds = (performance.now() - startedMs) / 1000;
	const usage = used(driverShare);
	const wal = (await subject.walBytes()) - before.wal;
	const unit = {
		work,
		serviceMs: ((usage.main + usage.others) * seconds * 1000) / done,
		databaseMs: (usage.database * seconds * 1000) / done,
		walBytes: Math.max(0, wal / done),
		storedBytes: Math.max(0, ((await storedBytes(subject)) - before.bytes) / done),
	};
	recorder.unitCosts.push(unit);
	recorder.note(
		`${work.padEnd(28)} service ${unit.serviceMs.toFixed(3)} ms, database ${unit.databaseMs.toFixed(3)} ms, WAL ${Math.round(unit.walBytes)} bytes, stored ${Math.round(unit.storedBytes)} bytes`,
	);
}

export async function unitCosts(recorder: Recorder, options: SuiteOptions): Promise<void> {
	const seconds = Math.max(1, Math.round(options.seconds));
	const directory = mkdtempSync(join(tmpdir(), 'tributary-bench-'));
	try {
		await using subject = await Subject.open('Tributary');
		recorder.database = await subject.settings();
		await loadCorpus(subject, patients);
		const sender = mllpDriver();
		const count = 9000 * seconds;
		const load = { port: subject.port('mllp'), connections: 64, seconds, addresses: subject.addresses, from: 0, count };
		await sender.run(load);
		await cost(subject, recorder, 'HL7 v2 message over MLLP', async () => {
			const { answered, driverShare } = await sender.run({ ...load, from: count });
			return { done: answered.reduce((sum, of) => sum + of, 0), driverShare };
		});
		const http = httpDrivers().at(-1);
		for (const name of http === undefined ? [] : ['read', 'Observation?patient=', 'Observation create']) {
			const work = fhirWork(name, patients, workloads(patients)[name]);
			await cost(subject, recorder, work.name, async () => {
				const requests = Array.from({ length: work.perSecond * seconds }, work.next);
				const result = await http?.run({
					port: subject.port('fhir'),
					key: subject.key,
					requests,
					connections: 16,
					seconds,
					contentType: work.contentType,
				});
				return { done: result?.accepted ?? 0, driverShare: result?.driverShare ?? 0 };
			});
		}
		const storer = storeDriver();
		const file = join(directory, 'instances');
		for (const [batch, { name, perSecond, pixelBytes }] of [
			{ name: 'C-STORE 10 KB', perSecond: 900, pixelBytes: 8600 },
			{ name: 'C-STORE CT 525 KB', perSecond: 200, pixelBytes: 524_288 },
		].entries()) {
			await writeInstances(file, { batch: batch + 1, count: perSecond * seconds, pixelBytes });
			spawnSync('sync');
			await cost(subject, recorder, name, async () => {
				const { instances, driverShare } = await storer.run({ port: subject.port('dimse'), called: 'TRIBUTARY', associations: 8, file });
				return { done: instances, driverShare };
			});
		}
	} finally {
		rmSync(directory, { recursive: true, force: true });
	}
}
