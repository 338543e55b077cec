import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { IdentityDelivery } from '#record/delivery.ts';
import type { IdentityEdit } from '#record/identity/edit.ts';
import { carried, loggedAcks, MemoryBatch } from '#test/support/interpretation.ts';

const edit: IdentityEdit = {
	operation: 'merge',
	survivor: '0199c0de-0000-7000-8000-000000000001',
	prior: '0199c0de-0000-7000-8000-000000000002',
	identifiers: ['A', 'B'],
	actor: 'ann@example.org',
};

function identity(given: IdentityEdit = edit): IdentityDelivery {
	return { ...carried(), kind: 'identity', surface: 'administration', bytes: Buffer.from(JSON.stringify(given)) };
}

describe("a person's merge", () => {
	test('of patients that are not there is refused, and logged with the reason and both numbers', () => {
		const delivery = identity();
		const taken = new MemoryBatch().take(delivery);
		assert.ok(taken.reply.answer.kind === 'refused');
		assert.deepEqual([taken.reply.outcome, taken.reply.messageType, taken.reply.controlId], ['refused', 'PATIENT MERGE', delivery.id]);
		assert.deepEqual(loggedAcks(taken), [JSON.stringify(taken.reply.answer)]);
		assert.deepEqual(taken.logged[0]?.patients, ['A', 'B']);
	});

	test('and its undoing are named apart', () => {
		assert.equal(new MemoryBatch().take(identity({ ...edit, operation: 'unmerge' })).reply.messageType, 'PATIENT UNMERGE');
	});

	test('that ended its worker is refused', () => {
		const { reply } = new MemoryBatch().take({ ...identity(), withheld: 'crash' as const });
		assert.deepEqual(reply.answer, { kind: 'refused', diagnostics: 'the decision could not be carried out' });
	});
});
