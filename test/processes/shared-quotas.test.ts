import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { OwnQuotas } from '#core/node-line.ts';
import { SharedQuotas } from '#processes/shared-quotas.ts';

describe('a limit that processes share', () => {
	test('holds for all of them together, by its name', () => {
		const quotas = new SharedQuotas();
		const [first, second] = [{}, {}];
		assert.deepEqual(
			[quotas.take(first, 'a', 2), quotas.take(second, 'a', 2), quotas.take(second, 'a', 2), quotas.take(second, 'b', 2)],
			[true, true, false, true],
		);
		quotas.give(first, 'a');
		assert.deepEqual([quotas.take(second, 'a', 2), quotas.take(first, 'a', 2)], [true, false]);
	});

	test('gets back what an ended process had, and no more than it had', () => {
		const quotas = new SharedQuotas();
		const [first, second] = [{}, {}];
		for (let time = 0; time < 3; time++) quotas.take(first, 'a', 4);
		quotas.take(second, 'a', 4);
		quotas.end(first);
		quotas.give(first, 'a');
		assert.deepEqual(
			Array.from({ length: 4 }, () => quotas.take(second, 'a', 4)),
			[true, true, true, false],
		);
	});

	test('is a count where there is one process', () => {
		const quotas = new OwnQuotas();
		assert.deepEqual([quotas.take('a', 1), quotas.take('a', 1), quotas.take('b', 0)], [true, false, false]);
		quotas.give('a');
		quotas.give('a');
		assert.deepEqual([quotas.take('a', 1), quotas.take('a', 1)], [true, false]);
	});
});
