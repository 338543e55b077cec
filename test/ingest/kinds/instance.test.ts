import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { interpretDelivery } from '#ingest/kinds/index.ts';
import type { InstanceDelivery } from '#record/delivery.ts';
import type { StoredInstance } from '#record/instance.ts';
import { packInstance } from '#record/instance-bytes.ts';
import { instanceAttributes } from '#test/support/instance-attributes.ts';
import { carried, interpretContext, loggedAcks, MemoryBatch } from '#test/support/interpretation.ts';

const stored: StoredInstance = {
	attributes: instanceAttributes(),
	digest: 'a'.repeat(64),
	bytes: 6,
	objectKey: 'site/study/series/instance.dcm',
	callingAe: 'CT1',
	source: '192.0.2.1',
};

function instance(given: StoredInstance = stored, object?: readonly Uint8Array[]): InstanceDelivery {
	return { ...carried(), kind: 'instance', surface: 'dimse', bytes: packInstance(given, object) };
}

describe('an instance', () => {
	test('that is new is answered as stored, and leaves no message in the log', () => {
		const { reply, logged } = new MemoryBatch().take(instance());
		assert.deepEqual([reply.outcome, reply.messageType, reply.answer, logged], ['accepted', 'C-STORE', { kind: 'stored' }, []]);
	});

	test('that comes again is answered as a duplicate, other content as kept aside', () => {
		const batch = new MemoryBatch();
		batch.take(instance());
		assert.deepEqual(batch.take(instance({ ...stored, objectKey: 'again' })).reply.answer, { kind: 'duplicate', studyUid: '1.2.3' });
		const other = { ...stored, digest: 'b'.repeat(64), objectKey: 'other' };
		assert.deepEqual(batch.take(instance(other)).reply.answer, { kind: 'undecided', held: stored.objectKey });
		const compared = { ...other, compared: { objectKey: stored.objectKey, isBeginning: false } };
		assert.deepEqual(batch.take(instance(compared)).reply.answer, { kind: 'quarantined', isHeld: false });
	});

	test('that ended its worker is answered as failed, and logged by what it is, not by its pixels', () => {
		const taken = new MemoryBatch().take({ ...instance(stored, [Buffer.from('pixels')]), withheld: 'crash' as const });
		const answer = { kind: 'failed', failure: { code: 'internal', diagnostics: 'the instance could not be indexed' } };
		assert.deepEqual(taken.reply.answer, answer);
		assert.deepEqual(loggedAcks(taken), [JSON.stringify(answer)]);
		assert.equal(Buffer.from(taken.logged[0]?.delivery.bytes ?? []).toString(), JSON.stringify(stored));
	});

	test('whose object travels along is placed in the store under its key; one that lies there is not', async () => {
		const placed: [string, string][] = [];
		const context = {
			...interpretContext,
			placeObject: ({ objectKey }: StoredInstance, object: Uint8Array) => {
				placed.push([objectKey, Buffer.from(object).toString()]);
				return { key: 'where it lies', durable: Promise.resolve() };
			},
		};
		const read = interpretDelivery(instance(stored, [Buffer.from('pix'), Buffer.from('els')]), context);
		assert.ok('place' in read);
		await read.place?.();
		assert.deepEqual(placed, [[stored.objectKey, 'pixels']]);
		assert.ok(!('place' in interpretDelivery(instance(), context)));
	});
});
