import assert from 'node:assert/strict';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { checkObjects } from '#administration/objects.ts';
import { setSite } from '#administration/sites.ts';
import { configuredObjectStore } from '#storage/objects/open.ts';
import { sampleDataSet } from '#test/support/data-set.ts';
import { readinessOf } from '#test/support/readiness.ts';
import { S3Server } from '#test/support/s3-server.ts';
import { eventually, type TestService, testService } from '#test/support/service.ts';
import { associate, data, type Peer, statusOf, store, value } from '#test/surfaces/dimse/peer.ts';

const server = new S3Server();
let service: TestService;
let environment: Record<string, string>;

before(async () => {
	environment = {
		OBJECT_STORE_URL: `s3://${server.bucket}/hospital/images`,
		...(await server.variables()),
		OBJECT_STORE_MS_MAX: '3000',
	};
	// The bucket cannot be asked at the start; the service starts all the same.
	server.fault = () => ({ status: 403, code: 'AccessDenied' });
	service = await testService(environment);
	server.fault = () => undefined;
	await service.addSite('west');
	await setSite(service.administration, { slug: 'west', ae_title: 'WEST' });
});
after(async () => {
	await service[Symbol.asyncDispose]();
	await server[Symbol.asyncDispose]();
});

test('C-STORE into a bucket: answered when it is there, kept aside there, 0xA700 while it cannot be', async (context) => {
	let peer: Peer | undefined;
	await eventually(async () => {
		peer = await associate(context, service.port('dimse')).catch(() => undefined);
		return peer !== undefined;
	}, 'the AE title');
	let message = 0;
	const send = async (uid: string, content: string) => {
		message++;
		const dataSet = sampleDataSet({ sopInstanceUid: uid, pixels: Buffer.alloc(100_000, content) });
		const chunks = Array.from({ length: Math.ceil(dataSet.length / 16_000) }, (_, index) =>
			dataSet.subarray(index * 16_000, (index + 1) * 16_000),
		);
		const pdus = chunks.map((chunk, index) => data(value(3, 'data', chunk, index === chunks.length - 1)));
		const [answer] = (await peer?.ask(Buffer.concat([data(value(3, 'command', store(message, { 4096: uid }))), ...pdus]))) ?? [];
		assert.ok(answer);
		return { status: statusOf(answer), dataSet };
	};
	const objects = configuredObjectStore({ ...environment, DATA_DIR: service.dataDir });
	const indexed = () =>
		service.rows<{ sop_instance_uid: string; object_key: string }>('select sop_instance_uid, object_key from imaging_instance');

	const { status, dataSet } = await send('1.1', 'a');
	assert.equal(status, 0);
	const [row] = await indexed();
	assert.ok(row);
	const held = server.objects.get(`hospital/images/${row.object_key}`);
	assert.equal(held?.bytes.toString('latin1', 128, 132), 'DICM');
	assert.ok(held?.bytes.subarray(-dataSet.length).equals(dataSet), 'byte for byte');
	assert.equal((await send('1.1', 'a')).status, 0);
	assert.equal((await send('1.1', 'b')).status, 0xb000);
	assert.deepEqual(
		[...server.objects.keys()].map((key) => key.startsWith('hospital/images/quarantine/')),
		[false, true],
	);

	for (const fault of ['reset', { status: 403, code: 'AccessDenied' }, { status: 500, code: 'InternalError' }] as const) {
		server.fault = ({ method }) => (method === 'PUT' ? fault : undefined);
		assert.equal((await send('1.2', 'a')).status, 0xa700);
	}
	// A bucket that takes the upload and never answers: the one that waits is refused in time, the next ones at once.
	const ready = () => readinessOf(service);
	await eventually(async () => (await ready()).status === 200, 'readiness');
	server.fault = () => 'hang';
	assert.equal((await send('1.2', 'a')).status, 0xa700);
	await eventually(async () => (await ready()).status === 503, 'the end of readiness');
	const { checks, reasons } = await ready();
	assert.deepEqual([checks['objects'], checks['database'], reasons], ['down', 'up', { objects: 'the object store does not answer' }]);
	const asked = server.requests.filter(({ method }) => method === 'PUT').length;
	assert.equal((await send('1.2', 'a')).status, 0xa700);
	assert.equal(server.requests.filter(({ method }) => method === 'PUT').length, asked, 'nothing more is begun');
	server.fault = () => undefined;
	await eventually(async () => (await ready()).status === 200, 'readiness again');
	// Uploads are sent again by this service, all other requests by the SDK.
	const retries = async () => {
		const text = await (await fetch(`http://127.0.0.1:${service.port('ops')}/metrics`)).text();
		return Number(/^tributary_object_store_retries_total (\d+)$/m.exec(text)?.[1]);
	};
	assert.ok((await retries()) >= 2, 'two uploads met a fault that may pass');
	assert.deepEqual(
		readdirSync(join(service.dataDir, 'objects-spool'), { recursive: true }).filter((name) => String(name).endsWith('.part')),
		[],
	);
	assert.equal((await indexed()).length, 1);
	assert.equal((await send('1.2', 'a')).status, 0);
	assert.equal((await indexed()).length, 2);

	const lost = (await indexed()).find(({ sop_instance_uid: uid }) => uid === '1.2');
	const check = () => checkObjects(service.administration.database, objects, Date.now() + 7_200_000, { remove: true, repair: true });
	const clean = await check();
	assert.deepEqual([clean.objects, clean.objects_without_rows, clean.rows_without_objects, clean.misplaced], [3, 0, 0, 0]);
	// What cannot be put aside is safe where it is, and is put aside later.
	server.fault = ({ method, key }) =>
		method === 'PUT' && key.includes('/quarantine/') ? { status: 500, code: 'InternalError' } : undefined;
	assert.equal((await send('1.1', 'c')).status, 0xb000);
	server.fault = () => undefined;
	const mended = await check();
	assert.deepEqual([mended.objects, mended.objects_without_rows, mended.misplaced, mended.moved], [4, 0, 1, 1]);
	assert.equal((await check()).misplaced, 0);
	await objects.remove(String(lost?.object_key));
	assert.equal((await check()).rows_without_objects, 1);
});
