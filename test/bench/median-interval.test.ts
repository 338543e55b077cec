import assert from 'node:assert/strict';
import { test } from 'node:test';
import { medianInterval } from '../../bench/median-interval.ts';

test('the interval of a median is between the second and the ninth of ten values, in whatever order they came', () => {
	const values = [0.97, 1.1, 0.9, 1.02, 1.0, 0.99, 1.3, 0.95, 1.01, 0.98];
	assert.deepEqual(medianInterval(values), { median: 0.995, low: 0.95, high: 1.1 });
});

test('with fewer than six values no interval is narrow enough, and all of them are in it', () => {
	assert.deepEqual(medianInterval([3, 1, 2, 5, 4]), { median: 3, low: 1, high: 5 });
});
