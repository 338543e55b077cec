import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { existsSync, globSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, test } from 'node:test';
import { deflateRawSync } from 'node:zlib';
import { Failure } from '#core/failure.ts';
import { newId } from '#core/id.ts';
import { silentLog } from '#core/log.ts';
import { readFileMeta } from '#dicom/part10.ts';
import { explicitLittleEndian } from '#dicom/transfer-syntax.ts';
import type { AnnouncedInstance } from '#imaging/announced-instance.ts';
import type { IndexInstance, IndexRequest } from '#imaging/index-instance.ts';
import { InstanceIntake, type IntakeResult } from '#imaging/intake.ts';
import type { IndexOutcome, StoredInstance } from '#record/instance.ts';
import { FileStore } from '#storage/objects/file-store.ts';
import { quarantineKey } from '#storage/objects/object-key.ts';
import { ctStorage, sampleDataSet } from '#test/support/data-set.ts';

const roots: string[] = [];
after(() => {
	for (const root of roots) rmSync(root, { recursive: true, force: true });
});

const siteId = newId();
const announced: AnnouncedInstance = {
	siteId,
	surface: 'dimse',
	clientId: 'c',
	settings: {},
	callingAe: 'CT1',
	source: '192.0.2.1',
	affectedSopClassUid: ctStorage,
	affectedSopInstanceUid: '1.2.3.4.5',
	transferSyntaxUid: explicitLittleEndian,
};

function intake(index: IndexInstance, headerBytesMax = 1024 * 1024, carriedObjectBytesMax = 0, dimseObjectBytesMax = 1024 ** 3) {
	const root = mkdtempSync(join(tmpdir(), 'tributary-intake-'));
	roots.push(root);
	const instanceIntake = new InstanceIntake({
		objects: new FileStore(root),
		index,
		limits: { headerBytesMax, carriedObjectBytesMax, dimseObjectBytesMax },
		log: silentLog,
	});
	/** Every file below the root, temporary ones included. */
	const files = () => globSync('**/*.{dcm,part}', { cwd: root }).sort();
	const send = async (dataSet: Buffer, changes: Partial<AnnouncedInstance> = {}, chunkBytes = 1000) => {
		const reception = instanceIntake.begin({ ...announced, ...changes });
		// The same memory each time: whoever keeps a chunk has another one's bytes.
		const chunk = Buffer.alloc(chunkBytes);
		for (let at = 0; at < dataSet.length; at += chunkBytes) await reception.write(chunk.subarray(0, dataSet.copy(chunk, 0, at)));
		return reception.finish();
	};
	return { root, instanceIntake, files, send };
}

const answering =
	(outcome: IndexOutcome): IndexInstance =>
	async () =>
		outcome;
/** `stored`, `refused: mismatch` */
const named = (result: IntakeResult) => (result.kind === 'refused' ? `refused: ${result.reason}` : result.kind);
const neverAsked: IndexInstance = () => assert.fail('what is refused is not indexed');

describe('an instance on its way in', () => {
	test('its file is whole and published when the index is asked, with what the row needs', async () => {
		const dataSet = sampleDataSet({ pixels: Buffer.alloc(700_000, 3) });
		const rows: IndexRequest[] = [];
		const { root, files, send } = intake(async (request) => {
			const { instance } = request;
			const file = readFileSync(join(root, instance.objectKey));
			const meta = readFileMeta(file);
			assert.equal(file.toString('latin1', 128, 132), 'DICM');
			assert.ok(file.subarray(0, 128).every((byte) => byte === 0));
			assert.deepEqual([meta.sopClassUid, meta.sopInstanceUid, meta.transferSyntaxUid], [ctStorage, '1.2.3.4.5', explicitLittleEndian]);
			assert.ok(file.subarray(meta.dataSetOffset).equals(dataSet));
			assert.equal(instance.bytes, file.length);
			rows.push(request);
			return { kind: 'stored' };
		});
		const result = await send(dataSet, {}, 100_000);
		const [request] = rows;
		assert.ok(request);
		const { instance } = request;
		assert.deepEqual(result, { kind: 'stored', attributes: instance.attributes, hasReplaced: false });
		assert.deepEqual([request.siteId, request.surface, request.object], [siteId, 'dimse', undefined]);
		assert.equal(instance.digest, createHash('sha256').update(dataSet).digest('hex'));
		assert.deepEqual([instance.callingAe, instance.source], ['CT1', '192.0.2.1']);
		assert.deepEqual(files(), [instance.objectKey]);
	});

	test('what the index makes of it decides the answer and where the object lies', async () => {
		const expected: [IndexOutcome, string, (key: string) => string[]][] = [
			[{ kind: 'stored' }, 'stored', (key) => [key]],
			[{ kind: 'duplicate' }, 'duplicate', () => []],
			[{ kind: 'quarantined', isHeld: false }, 'quarantined', (key) => [quarantineKey(key)]],
			[{ kind: 'quarantined', isHeld: true }, 'quarantined', () => []],
			[{ kind: 'refused' }, 'refused: other-content', () => []],
		];
		for (const [outcome, result, left] of expected) {
			let key = '';
			const { files, send } = intake(async ({ instance }) => {
				key = instance.objectKey;
				return outcome;
			});
			assert.equal(named(await send(sampleDataSet())), result, outcome.kind);
			assert.deepEqual(files(), left(key), outcome.kind);
		}
	});

	test('what it replaces is kept aside', async () => {
		const keys: string[] = [];
		const { files, send } = intake(async ({ instance }) => {
			keys.push(instance.objectKey);
			return keys.length === 1 ? { kind: 'stored' } : { kind: 'replaced', superseded: keys[0] as string };
		});
		await send(sampleDataSet());
		const result = await send(sampleDataSet({ pixels: Buffer.alloc(32) }));
		assert.ok(result.kind === 'stored' && result.hasReplaced);
		assert.deepEqual(files(), [keys[1], quarantineKey(keys[0] as string)].sort());
	});

	test('the same instance over many associations at once: one object stays, and it is the one of the row', async () => {
		const rows = new Map<string, StoredInstance>();
		const { files, send } = intake(async ({ instance }) => {
			const { sopInstanceUid } = instance.attributes;
			if (rows.has(sopInstanceUid)) return { kind: 'duplicate' };
			rows.set(sopInstanceUid, instance);
			return { kind: 'stored' };
		});
		const results = await Promise.all(Array.from({ length: 20 }, () => send(sampleDataSet())));
		assert.deepEqual(results.map(named).sort(), [...Array.from({ length: 19 }, () => 'duplicate'), 'stored']);
		assert.deepEqual(files(), [rows.get('1.2.3.4.5')?.objectKey]);
	});

	test('data set and request that contradict each other are refused, and nothing is kept', async () => {
		const { files, send } = intake(neverAsked);
		for (const changes of [{ affectedSopClassUid: '1.2.840.10008.5.1.4.1.1.4' }, { affectedSopInstanceUid: '1.2.3.4.6' }]) {
			const result = await send(sampleDataSet({ pixels: Buffer.alloc(2_000_000) }), changes, 60_000);
			assert.equal(named(result), 'refused: mismatch');
		}
		for (const missing of [{ sopClassUid: '' }, { sopInstanceUid: '' }, { studyUid: '' }, { seriesUid: '' }]) {
			assert.equal(named(await send(sampleDataSet(missing))), 'refused: mismatch');
		}
		assert.deepEqual(files(), []);
	});

	test('what cannot be understood is refused, nothing is kept, and the text repeats nothing of it', async () => {
		const { files, send } = intake(neverAsked);
		const whole = sampleDataSet();
		const wrong = [
			Buffer.alloc(0),
			whole.subarray(0, 300),
			Buffer.alloc(1000),
			sampleDataSet({ studyUid: '../../etc/x' }),
			sampleDataSet({ seriesUid: '1.02.3' }),
			sampleDataSet({ patientId: 'SECRET'.repeat(1000) }),
			Buffer.from('GET / HTTP/1.1\r\nHost: example\r\n\r\n'),
		];
		for (const dataSet of wrong) {
			const result = await send(dataSet);
			assert.ok(result.kind === 'refused');
			assert.equal(result.reason, 'not-understood', result.text);
			assert.doesNotMatch(result.text, /SECRET|etc|1\.02/);
			assert.match(result.text, /^[\x20-\x7e]{1,64}$/);
		}
		assert.deepEqual(files(), []);
	});

	test('a request whose own UIDs are none never reaches the disk', async () => {
		const { root, files, send } = intake(neverAsked);
		for (const name of ['affectedSopClassUid', 'affectedSopInstanceUid', 'transferSyntaxUid'] as const) {
			for (const uid of ['', '../x', '1.2.', '1'.repeat(65)])
				assert.equal(named(await send(sampleDataSet(), { [name]: uid })), 'refused: not-understood');
		}
		assert.deepEqual(files(), []);
		assert.ok(!existsSync(join(root, 'incoming')));
	});

	test('a sender that dies leaves nothing, and cannot undo what is being indexed', async () => {
		const asked = Promise.withResolvers<void>();
		const answer = Promise.withResolvers<IndexOutcome>();
		const { instanceIntake, files } = intake(() => {
			asked.resolve();
			return answer.promise;
		});
		const dying = instanceIntake.begin(announced);
		await dying.write(sampleDataSet().subarray(0, 700));
		await dying.abandon();
		assert.deepEqual(files(), []);
		assert.equal((await dying.finish()).kind, 'refused');

		const indexing = instanceIntake.begin(announced);
		await indexing.write(sampleDataSet());
		const result = indexing.finish();
		await asked.promise;
		await indexing.abandon();
		answer.resolve({ kind: 'stored' });
		assert.equal(named(await result), 'stored');
		assert.equal(files().length, 1);
	});

	test('an instance that the store cannot take is refused for now, and the index is not asked', async () => {
		const { root, send } = intake(neverAsked);
		writeFileSync(join(root, 'incoming'), 'a file, not a folder');
		assert.equal(named(await send(sampleDataSet())), 'refused: not-now');
	});

	test('the index fails: the object stays only where the row may have been committed', async () => {
		const cases = [
			[new Failure('unavailable', 'the database does not answer'), 'not-now', 1],
			[new Error('connection ended'), 'not-now', 1],
			[new Failure('too-many-requests', 'too many instances wait'), 'not-now', 0],
			[new Failure('business-rule', 'this may not be stored here'), 'not-understood', 0],
		] as const;
		for (const [error, reason, left] of cases) {
			const { files, send } = intake(() => Promise.reject(error));
			const result = await send(sampleDataSet());
			assert.ok(result.kind === 'refused');
			assert.equal(result.reason, reason, error.message);
			assert.doesNotMatch(result.text, /connection/);
			assert.equal(files().length, left, error.message);
		}
	});

	test('a header beyond the limit is refused while it arrives', async () => {
		const { files, send } = intake(answering({ kind: 'stored' }), 400);
		assert.equal(named(await send(sampleDataSet())), 'refused: not-understood');
		assert.deepEqual(files(), []);
	});
});

describe('a deflated data set', () => {
	const deflated = { transferSyntaxUid: '1.2.840.10008.1.2.1.99' };
	const whole = sampleDataSet({ pixels: Buffer.from(Array.from({ length: 40_000 }, (_, at) => (at * at) % 251)) });

	test('is stored when what it inflates to is whole, padded or not', async () => {
		const bytes = deflateRawSync(whole);
		for (const dataSet of [bytes, Buffer.concat([bytes, Buffer.alloc(1)])]) {
			for (const chunkBytes of [100, 100_000]) {
				const { send } = intake(answering({ kind: 'stored' }));
				assert.equal(named(await send(dataSet, deflated, chunkBytes)), 'stored');
			}
		}
	});

	test('is refused when it is cut off, before or after it was deflated, and when it inflates to too much', async () => {
		const bytes = deflateRawSync(whole);
		const bomb = deflateRawSync(sampleDataSet({ pixels: Buffer.alloc(2_000_000) }));
		for (const dataSet of [bytes.subarray(0, -1), bytes.subarray(0, -10_000), deflateRawSync(whole.subarray(0, -1)), bomb]) {
			const { files, send } = intake(neverAsked, undefined, 0, 1_000_000);
			assert.equal(named(await send(dataSet, deflated)), 'refused: not-understood');
			assert.deepEqual(files(), []);
		}
	});
});

describe('other content that may go on where the stored content ends', () => {
	test('is compared byte by byte, and the index is told', async () => {
		const whole = sampleDataSet({ pixels: Buffer.alloc(700_000, 3) });
		const changed = Buffer.from(whole);
		changed[600_000] = 9;
		for (const [first, second, isBeginning] of [
			[whole.subarray(0, 650_000), whole, true],
			[changed.subarray(0, 650_000), whole, false],
			[whole.subarray(0, 600_000), changed, true],
			[whole, whole, false],
		] as const) {
			const seen: (StoredInstance['compared'] | undefined)[] = [];
			let held = '';
			const { root, send } = intake(async ({ instance }) => {
				seen.push(instance.compared);
				if (instance.compared === undefined && held !== '') return { kind: 'undecided', held };
				held ||= instance.objectKey;
				return { kind: 'stored' };
			});
			await send(whole);
			// The object as an earlier release stored it.
			const head = readFileSync(join(root, held)).subarray(0, -whole.length);
			writeFileSync(join(root, held), Buffer.concat([head, first]));
			await send(second);
			assert.deepEqual(seen, [undefined, undefined, { objectKey: held, isBeginning }]);
		}
	});
});

describe('a small instance', () => {
	const carriedBytesMax = 5000;
	const carrying = (index: IndexInstance) => intake(index, undefined, carriedBytesMax);

	test('is carried to the index whole, and is not in the store before', async () => {
		for (const pixelBytes of [2000, 40_000]) {
			const dataSet = sampleDataSet({ pixels: Buffer.alloc(pixelBytes, 3) });
			let carried: Buffer | undefined;
			let row: StoredInstance | undefined;
			const { root, files, send } = carrying(async ({ instance, object }) => {
				row = instance;
				carried = object && Buffer.concat(object);
				assert.equal(files().length, object === undefined ? 1 : 0);
				return { kind: 'stored' };
			});
			assert.equal(named(await send(dataSet)), 'stored');
			assert.equal(carried !== undefined, dataSet.length <= carriedBytesMax);
			const file = carried ?? readFileSync(join(root, row?.objectKey ?? ''));
			assert.ok(file.subarray(readFileMeta(file).dataSetOffset).equals(dataSet));
			assert.deepEqual([row?.bytes, row?.digest], [file.length, createHash('sha256').update(dataSet).digest('hex')]);
		}
	});

	test('that the store does not take when its row is written is refused for now; one that the index refuses, for good', async () => {
		const cases = [
			['unavailable', 'the object store is full', 'not-now'],
			['internal', 'the instance could not be indexed', 'not-understood'],
		] as const;
		for (const [code, diagnostics, reason] of cases) {
			const { files, send } = carrying(async () => ({ kind: 'failed', failure: { code, diagnostics } }));
			const result = await send(sampleDataSet());
			assert.ok(result.kind === 'refused');
			assert.deepEqual([result.reason, result.text], [reason, diagnostics]);
			assert.deepEqual(files(), []);
		}
	});

	test('that is refused or given up reaches neither the index nor the disk', async () => {
		const { root, instanceIntake, send } = carrying(neverAsked);
		assert.equal(named(await send(sampleDataSet(), { affectedSopInstanceUid: '1.2.3.4.6' })), 'refused: mismatch');
		const dying = instanceIntake.begin(announced);
		await dying.write(sampleDataSet().subarray(0, 700));
		await dying.abandon();
		assert.equal((await dying.finish()).kind, 'refused');
		assert.ok(!existsSync(join(root, 'incoming')));
	});
});
