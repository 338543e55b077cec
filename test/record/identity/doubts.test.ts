import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { ApplyContext } from '#record/apply/context.ts';
import { identityDoubts } from '#record/holdings/identity-doubts.ts';
import { type Doubt, recordDoubt } from '#record/identity/doubt.ts';
import { MemorySite } from '#test/support/memory-site.ts';

const about = (key: string): Doubt => ({ kind: 'mismatch', key: [key], text: 'PID-3 names another person', patientId: 'p1' });

describe('a doubt', () => {
	test('that a batch raises several times is one row with a count, its first and its last message', () => {
		const site = new MemorySite();
		const contexts = [1, 2, 3].map(() => site.apply({ changes: [], flags: [] }));
		for (const context of contexts) recordDoubt(context, about('a'));
		recordDoubt(contexts[2] as ApplyContext, about('b'));
		assert.deepEqual(
			[...site.set.of(identityDoubts).recorded.values()].map(({ count, first, last }) => [count, first.messageId, last.messageId]),
			[
				[3, 'message-1', 'message-3'],
				[1, 'message-3', 'message-3'],
			],
		);
	});

	test('of a message that is refused is not recorded, nor counted', () => {
		const site = new MemorySite();
		const context = site.apply({ changes: [], flags: [] });
		recordDoubt(context, about('a'));
		assert.throws(() =>
			site.set.attempt(() => {
				recordDoubt(context, about('a'));
				recordDoubt(context, about('b'));
				throw new Error('refused');
			}),
		);
		assert.deepEqual(
			[...site.set.of(identityDoubts).recorded.values()].map(({ count }) => count),
			[1],
		);
	});
});
