import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { ConflictDelivery } from '#record/delivery.ts';
import { carried, loggedAcks, MemoryBatch } from '#test/support/interpretation.ts';

const decision = { conflictId: '0199c0de-0000-7000-8000-000000000009', by: 'ann@example.org', source: '', received: undefined };

function conflict(): ConflictDelivery {
	return { ...carried(), kind: 'conflict', surface: 'dimse', bytes: Buffer.from(JSON.stringify(decision)) };
}

describe('a decision about a conflict', () => {
	test('that does not exist is answered with the failure, which is logged in JSON', () => {
		const taken = new MemoryBatch().take(conflict());
		const { failure, superseded } = taken.reply.answer;
		assert.ok(failure);
		assert.deepEqual([taken.reply.outcome, taken.reply.messageType, superseded], ['refused', 'conflict settle', undefined]);
		assert.deepEqual(loggedAcks(taken), [JSON.stringify({ failure })]);
	});

	test('that ended its worker is refused', () => {
		const { reply } = new MemoryBatch().take({ ...conflict(), withheld: 'crash' as const });
		assert.deepEqual(reply.answer.failure, { code: 'internal', diagnostics: 'the conflict could not be settled' });
	});
});
