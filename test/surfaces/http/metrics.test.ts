import assert from 'node:assert/strict';
import { test } from 'node:test';
import { statusClass } from '#surfaces/http/metrics.ts';

test('a status is counted by its class', () => {
	assert.deepEqual([200, 404, 503, 999].map(statusClass), ['2xx', '4xx', '5xx', '5xx']);
});
