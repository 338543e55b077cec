import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { isUuid, newId, nilId } from '#core/id.ts';

describe('an id', () => {
	test('is a UUID of version 7 with the variant of RFC 9562', () => {
		for (let index = 0; index < 100; index++) {
			const id = newId();
			assert.ok(isUuid(id), id);
			assert.match(id, /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
		}
	});

	test('begins with its moment in milliseconds', () => {
		const nowMs = Date.now() + 60_000;
		const id = newId(nowMs).replaceAll('-', '');
		assert.equal(Number.parseInt(id.slice(0, 12), 16), nowMs);
	});

	test('sorts in the order of making, also beyond what one millisecond can count and when the clock goes back', () => {
		const nowMs = Date.now() + 120_000;
		const ids = Array.from({ length: 10_000 }, (_, index) => newId(index % 3 === 0 ? nowMs - 5000 : nowMs));
		assert.deepEqual(ids.toSorted(), ids);
		assert.equal(new Set(ids).size, ids.length);
	});

	test('follows a clock back that had been far ahead', () => {
		const msOf = (id: string) => Number.parseInt(id.replaceAll('-', '').slice(0, 12), 16);
		const aheadMs = Date.now() + 86_400_000;
		assert.equal(msOf(newId(aheadMs)), aheadMs);
		const nowMs = aheadMs - 3_600_000;
		assert.equal(msOf(newId(nowMs)), nowMs);
	});
});

test('only small letters and hyphens at their places make a UUID', () => {
	for (const text of ['', 'x', nilId.slice(1), `${nilId} `, `{${nilId}}`, newId().toUpperCase(), newId().replaceAll('-', '')]) {
		assert.equal(isUuid(text), false, text);
	}
	assert.ok(isUuid(nilId));
});
