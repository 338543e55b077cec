import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { readdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, test } from 'node:test';
import { checkObjects } from '#administration/objects.ts';
import { readFileMeta } from '#dicom/part10.ts';
import type { ConnectionPool } from '#storage/connection-pool.ts';
import type { ObjectStore } from '#storage/objects/object-store.ts';
import { configuredObjectStore } from '#storage/objects/open.ts';
import { mayBeAtWork } from '#storage/objects/owner.ts';
import { readRuntimeFile } from '#storage/runtime-file.ts';
import { doorTo } from '#test/support/door.ts';
import { eventually } from '#test/support/eventually.ts';
import { ServiceProcess } from '#test/support/service-process.ts';
import { ctInstance, StorageScu } from '#test/support/storage-scu.ts';

const associations = 8;
const sha256 = (bytes: Uint8Array) => createHash('sha256').update(bytes).digest('hex');

/** Modalities that send without pause until their connection ends; they note the digest of what was answered with success. */
class Load {
	readonly stored = new Map<string, string>();
	readonly #senders: Promise<void>[];

	constructor(port: number, round: number) {
		this.#senders = Array.from({ length: associations }, (_, lane) => this.#send(port, `1.2.826.${round}.${lane}`));
	}

	async #send(port: number, study: string): Promise<void> {
		using scu = await StorageScu.open(port, { called: 'NORTH' });
		for (let number = 1; ; number++) {
			const sopInstanceUid = `${study}.1.${number}`;
			// From one PDU to more than the object store gathers before it writes.
			const pixels = Buffer.alloc(number % 5 === 0 ? 700_000 : 2000 * (number % 20), number);
			const instance = ctInstance({ sopInstanceUid, studyUid: study, seriesUid: `${study}.1`, pixels });
			const answer = await scu.store(instance).catch((error: Error) => error);
			if (answer instanceof Error) {
				// Of a service that drains: A-ABORT.
				assert.match(answer.message, /closed without a further PDU|answered with PDU 7/);
				return;
			}
			assert.equal(answer.status, 0, answer.comment);
			this.stored.set(sopInstanceUid, sha256(instance.dataSet));
		}
	}

	ended(): Promise<unknown> {
		return Promise.all(this.#senders);
	}
}

async function bytesOf(store: ObjectStore, key: string): Promise<Buffer> {
	const chunks: Uint8Array[] = [];
	for await (const chunk of store.read(key)) chunks.push(chunk);
	return Buffer.concat(chunks);
}

interface IndexRow {
	sop_instance_uid: string;
	digest: string;
	object_key: string;
	bytes: string;
}

const instances = { name: 'instances', text: 'select sop_instance_uid, digest, object_key, bytes from imaging_instance' };

/** Every row, acknowledged or not, has its file; every acknowledged instance its row. The number of files that had none. */
async function assertStored(service: ServiceProcess, loads: readonly Load[]): Promise<number> {
	const door = doorTo(readRuntimeFile(service.dataDir)?.databaseUrl ?? '');
	try {
		return await storedIn(door.people, service, loads);
	} finally {
		await door.close();
	}
}

async function storedIn(database: ConnectionPool, service: ServiceProcess, loads: readonly Load[]): Promise<number> {
	const store = configuredObjectStore({ DATA_DIR: service.dataDir });
	const rows = new Map((await database.rows<IndexRow>(instances, [])).map((row) => [row.sop_instance_uid, row]));
	for (const load of loads)
		for (const [uid, digest] of load.stored) assert.equal(rows.get(uid)?.digest, digest, `${uid} was answered with success`);
	for (const { object_key: key, digest, bytes } of rows.values()) {
		const file = await bytesOf(store, key);
		assert.equal(file.length, Number(bytes), key);
		assert.equal(sha256(file.subarray(readFileMeta(file).dataSetOffset)), digest, key);
	}
	const [counted] = await database.rows<{ counted: number; held: number }>(
		{
			text: `select (select sum(instance_count)::int from imaging_study) as counted, count(*)::int as held from imaging_instance`,
		},
		[],
	);
	assert.equal(counted?.counted, counted?.held, 'the counts of the studies are those of their instances');
	// The running processes try every now and then whether their store can be written.
	const temporary = readdirSync(join(service.dataDir, 'objects/incoming'), { recursive: true, encoding: 'utf8' });
	for (const name of temporary.filter((each) => each.endsWith('.part')))
		assert.ok(await mayBeAtWork(dirname(name), async () => 0), `${name} is left of a process that has ended`);
	const later = Date.now() + 7_200_000;
	const report = await checkObjects(database, store, later, { remove: true, repair: true });
	assert.equal(report.rows_without_objects, 0);
	assert.equal(report.objects - report.objects_without_rows, rows.size);
	assert.equal(report.removed, report.objects_without_rows, 'what nobody was told of is removed when asked');
	const again = await checkObjects(database, store, later, { remove: false, repair: false });
	assert.deepEqual([again.objects, again.objects_without_rows, again.rows_without_objects], [rows.size, 0, 0]);
	return report.removed;
}

describe('kill -9 of the service while 8 associations store', () => {
	test('loses nothing that was answered with success, and shows no part of a file', async () => {
		await using service = new ServiceProcess();
		await service.start();
		await service.cli('site', 'add', 'north', '--name', 'North', '--ae-title', 'NORTH');
		const accepted = async () => {
			const scu = await StorageScu.open(service.port('dimse'), { called: 'NORTH' }).catch(() => undefined);
			scu?.peer.socket.destroy();
			return scu !== undefined;
		};
		const loads: Load[] = [];
		for (const atLeast of [60, 100]) {
			await eventually(accepted, 'the AE title');
			const load = new Load(service.port('dimse'), loads.length);
			loads.push(load);
			await eventually(() => load.stored.size >= atLeast, 'stored instances');
			await service.end('SIGKILL');
			await load.ended();
			await service.start();
			await assertStored(service, loads);
		}
		await eventually(accepted, 'the AE title');
		const drained = new Load(service.port('dimse'), loads.length);
		loads.push(drained);
		await eventually(() => drained.stored.size >= 60, 'stored instances');
		assert.equal(await service.end('SIGTERM'), 0);
		await drained.ended();
		await service.start();
		assert.equal(await assertStored(service, loads), 0, 'a service that drains leaves nothing without a row');
		const doctor = await service.cli('doctor', '--objects', '--json');
		assert.equal(doctor.code, 0, doctor.stderr);
		assert.equal(JSON.parse(doctor.stdout).rows_without_objects, 0);
		assert.equal(await service.end('SIGTERM'), 0);
	});
});
