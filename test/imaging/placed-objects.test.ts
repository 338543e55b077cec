import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, test } from 'node:test';
import { Failure } from '#core/failure.ts';
import { newId } from '#core/id.ts';
import { silentLog } from '#core/log.ts';
import { explicitLittleEndian } from '#dicom/transfer-syntax.ts';
import type { AnnouncedInstance } from '#imaging/announced-instance.ts';
import type { IndexInstance, IndexRequest } from '#imaging/index-instance.ts';
import { InstanceIntake } from '#imaging/intake.ts';
import { FileStore } from '#storage/objects/file-store.ts';
import { Placements, placementsMemory } from '#storage/objects/placements.ts';
import { ctStorage, sampleDataSet } from '#test/support/data-set.ts';
import { holdProcess } from '#test/support/held-process.ts';

const roots: string[] = [];
after(() => {
	for (const root of roots) rmSync(root, { recursive: true, force: true });
});

const announced: AnnouncedInstance = {
	...{ siteId: newId(), surface: 'dimse', clientId: 'c', settings: {}, callingAe: 'CT1', source: '192.0.2.1' },
	...{ affectedSopClassUid: ctStorage, affectedSopInstanceUid: '1.2.3.4.5', transferSyntaxUid: explicitLittleEndian },
};

describe('an instance whose object is written while the index is asked', () => {
	holdProcess();

	/** A store in which every large object is durable when the test says so. */
	function placing(index: IndexInstance) {
		const root = mkdtempSync(join(tmpdir(), 'tributary-intake-'));
		roots.push(root);
		const objects = new FileStore(root, { writer: 'test', segmentBytes: 2 ** 30, objectBytesMax: 2 ** 22 });
		const disk = Promise.withResolvers<void>();
		const written: Promise<void>[] = [];
		const begin = objects.begin.bind(objects);
		objects.begin = (head) => {
			const writer = begin(head);
			const place = writer.place?.bind(writer);
			writer.place = (key, about) => {
				const placed = place?.(key, about);
				if (placed) written.push(placed.durable);
				return placed && { key: placed.key, durable: disk.promise };
			};
			return writer;
		};
		const placements = new Placements(placementsMemory());
		const limits = { headerBytesMax: 1024 * 1024, carriedObjectBytesMax: 1024, dimseObjectBytesMax: 1024 ** 3 };
		const instances = new InstanceIntake({ objects, index, limits, placements, log: silentLog });
		const send = async () => {
			const reception = instances.begin(announced);
			await reception.write(sampleDataSet({ pixels: Buffer.alloc(100_000) }));
			return reception.finish();
		};
		const kept = async () => {
			await Promise.all(written);
			let count = 0;
			for await (const { bytes } of objects.list()) count += Math.sign(bytes);
			return count;
		};
		return { placements, send, disk, written, kept };
	}
	const isDurable = (placements: Placements, { placing: slot }: IndexRequest) => placements.isDurable(slot ?? assert.fail('it is durable'));

	test('is answered when the index has decided, which waits for the object', async () => {
		const { placements, send, disk, kept } = placing(async (request) => {
			disk.resolve();
			assert.equal(await isDurable(placements, request), true);
			return { kind: 'stored' };
		});
		assert.equal((await send()).kind, 'stored');
		assert.equal(await kept(), 1);
	});

	test('goes to the index again, by itself, when its object was not durable in time', async () => {
		const asked: boolean[] = [];
		const { placements, send, disk } = placing(async (request) => {
			asked.push(request.placing !== undefined);
			if (request.placing === undefined) return { kind: 'stored' };
			assert.equal(await isDurable(placements, request), false);
			setImmediate(() => disk.resolve());
			return { kind: 'unplaced' };
		});
		assert.equal((await send()).kind, 'stored');
		assert.equal((await send()).kind, 'stored');
		assert.deepEqual(asked, [true, false, false], 'a slow disk is not waited for again in a transaction');
	});

	test('is refused for now with the reason of the store when its object cannot be written', async () => {
		const { placements, send, disk } = placing(async (request) => {
			disk.reject(new Failure('unavailable', 'the object store is full'));
			assert.equal(await isDurable(placements, request), false);
			return { kind: 'unplaced' };
		});
		const result = await send();
		assert.ok(result.kind === 'refused');
		assert.deepEqual([result.reason, result.text], ['not-now', 'the object store is full']);
	});

	test('that the index does not take leaves no object, although it becomes durable later', async () => {
		const { send, disk, written, kept } = placing(async () => {
			setImmediate(() => Promise.all(written).then(() => disk.resolve()));
			throw new Failure('too-many-requests', 'too much of this site waits to be stored');
		});
		const result = await send();
		assert.ok(result.kind === 'refused');
		assert.equal(result.reason, 'not-now');
		assert.equal(await kept(), 0);
	});
});
