import assert from 'node:assert/strict';
import { readdirSync } from 'node:fs';
import { createConnection } from 'node:net';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { deflateRawSync } from 'node:zlib';
import { checkObjects } from '#administration/objects.ts';
import { explicitLittleEndian, implicitLittleEndian } from '#dicom/transfer-syntax.ts';
import { configuredObjectStore } from '#storage/objects/open.ts';
import { ctStorage, sampleDataSet } from '#test/support/data-set.ts';
import { type Change, changed, fc, fuzzing } from '#test/support/fuzzing.ts';
import { eventually, type TestService, testService } from '#test/support/service.ts';
import { addImagingSite, type SentInstance, StorageScu } from '#test/support/storage-scu.ts';
import { associateRequest, data, Peer, releaseRequest, store as storeCommand, value } from '#test/surfaces/dimse/peer.ts';

const bigEndian = '1.2.840.10008.1.2.2';
const deflated = '1.2.840.10008.1.2.1.99';
const transferSyntaxes = [explicitLittleEndian, implicitLittleEndian, bigEndian, deflated];
const contexts = transferSyntaxes.map((transferSyntax) => [ctStorage, transferSyntax] as const);

/** An instance of its own for each number. */
function sample(transferSyntaxUid: string, number: number): SentInstance {
	const sopInstanceUid = `1.2.826.9.${number}`;
	const writing = { explicit: transferSyntaxUid !== implicitLittleEndian, littleEndian: transferSyntaxUid !== bigEndian };
	const plain = sampleDataSet({ sopInstanceUid, studyUid: `1.2.826.${number % 50}`, writing, pixels: Buffer.alloc(200, number) });
	const dataSet = transferSyntaxUid === deflated ? deflateRawSync(plain) : plain;
	return { sopClassUid: ctStorage, sopInstanceUid, transferSyntaxUid, dataSet };
}

const change: fc.Arbitrary<Change> = fc.record({ at: fc.nat(5000), kind: fc.nat(3), bytes: fc.uint8Array({ maxLength: 8 }) });
const changes = fc.array(change, { minLength: 1, maxLength: 5 });
const damage = fc.record({
	transferSyntaxUid: fc.constantFrom(...transferSyntaxes),
	changes,
	pieceBytes: fc.integer({ min: 30, max: 4000 }),
});

setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc') as () => void;

function bytesInUse(): number {
	collectGarbage();
	const { heapUsed, arrayBuffers } = process.memoryUsage();
	return heapUsed + arrayBuffers;
}

const grownBytesMax = 48 * 1024 * 1024;

/** The service answers, its gauges are at rest, and store and index name the same objects. */
async function assertWhole(service: TestService, called: string): Promise<void> {
	using scu = await StorageScu.open(service.port('dimse'), { called });
	assert.equal(await scu.echo(), 0);
	await scu.release();
	const { metrics } = service.process();
	const gauge = async (name: string) => (await metrics.registry.getSingleMetric(name)?.get())?.values[0]?.value;
	await eventually(async () => (await gauge('tributary_dimse_associations')) === 0, 'the end of all associations');
	assert.equal(await gauge('tributary_dimse_associations_paused'), 0);
	const incoming = join(service.dataDir, 'objects/incoming');
	const temporary = () => readdirSync(incoming, { recursive: true }).filter((name) => String(name).endsWith('.part'));
	await eventually(() => temporary().length === 0, 'the end of all temporary files');
	const store = configuredObjectStore({ DATA_DIR: service.dataDir });
	const report = await checkObjects(service.administration.database, store, Date.now() + 7_200_000, { remove: false, repair: false });
	assert.deepEqual([report.objects_without_rows, report.rows_without_objects, report.examples], [0, 0, []]);
}

describe('C-STORE of what is damaged, through the socket', () => {
	test('PDUs: an answer or an end, and nothing left behind', async (context) => {
		await using service = await testService({
			DIMSE_ARTIM_MS_MAX: '2000',
			DIMSE_STALL_MS_MAX: '2000',
			LOG_LEVEL: 'silent',
			PROCESSES: '1',
		});
		const { called } = await addImagingSite(service, 'west');
		const port = service.port('dimse');
		const request = associateRequest({ called, contexts: { 1: [ctStorage, explicitLittleEndian], 3: [ctStorage, deflated] } });
		let number = 0;
		const stream = (pieceBytes: number) => {
			const { dataSet, sopInstanceUid } = sample(explicitLittleEndian, number++);
			const pieces = Array.from({ length: Math.ceil(dataSet.length / pieceBytes) }, (_, index) =>
				value(1, 'data', dataSet.subarray(index * pieceBytes, (index + 1) * pieceBytes), (index + 1) * pieceBytes >= dataSet.length),
			);
			return Buffer.concat([
				request,
				data(value(1, 'command', storeCommand(1, { 4096: sopInstanceUid }))),
				...pieces.map((piece) => data(piece)),
				releaseRequest,
			]);
		};
		const send = async ({ changes: edits, pieceBytes }: { changes: Change[]; pieceBytes: number }) => {
			const peer = new Peer(createConnection({ port, host: '127.0.0.1', noDelay: true }));
			peer.socket.end(changed(stream(pieceBytes), edits));
			await peer.closed;
			for (const { type } of peer.received) assert.ok([2, 3, 4, 6, 7].includes(type), `PDU ${type}`);
		};
		const before = bytesInUse();
		const { numRuns, seed } = fuzzing(context, 150);
		await fc.assert(
			fc.asyncProperty(fc.array(damage, { minLength: 8, maxLength: 8 }), async (cases) => {
				await Promise.all(cases.map((one) => send(one)));
			}),
			{ numRuns, seed },
		);
		await assertWhole(service, called);
		assert.ok(bytesInUse() - before < grownBytesMax);
	});

	test('data sets: a status each time, and nothing left behind', async (context) => {
		await using service = await testService({ LOG_LEVEL: 'silent', PROCESSES: '1' });
		const { called, siteId } = await addImagingSite(service, 'west');
		const lanes = await Promise.all(Array.from({ length: 4 }, () => StorageScu.open(service.port('dimse'), { called, contexts })));
		const counts = new Map<number | undefined, number>();
		let number = 0;
		const before = bytesInUse();
		await fc.assert(
			fc.asyncProperty(fc.array(damage, { minLength: 4, maxLength: 4 }), async (cases) => {
				await Promise.all(
					cases.map(async ({ transferSyntaxUid, changes: edits, pieceBytes }, lane) => {
						const whole = sample(transferSyntaxUid, number++);
						const answer = await lanes[lane]?.store({ ...whole, dataSet: changed(whole.dataSet, edits) }, pieceBytes);
						assert.ok(answer?.status !== undefined && [0, 0xa900, 0xc000].includes(answer.status), JSON.stringify(answer));
						counts.set(answer.status, (counts.get(answer.status) ?? 0) + 1);
					}),
				);
			}),
			fuzzing(context, 250),
		);
		for (const lane of lanes) await lane.release();
		assert.ok(
			[0, 0xa900, 0xc000].every((status) => (counts.get(status) ?? 0) > 0),
			JSON.stringify([...counts]),
		);
		const [row] = await service.rows<{ count: number }>('select count(*)::int from imaging_instance where site_id = $1', [siteId]);
		assert.equal(row?.count, counts.get(0));
		await assertWhole(service, called);
		assert.ok(bytesInUse() - before < grownBytesMax);
	});
});
