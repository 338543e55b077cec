import { strict as assert } from 'node:assert';
import { describe, test } from 'node:test';
import { dateRange } from '#core/date-range.ts';
import { dayBounds, instantBounds, isoInstant, periodBounds } from '#fhir/date.ts';

describe('a FHIR date as the range of moments that it spans', () => {
	const spans: [string, string, string][] = [
		['2024', '2024-01-01T00:00:00.000Z', '2025-01-01T00:00:00.000Z'],
		['2024-12', '2024-12-01T00:00:00.000Z', '2025-01-01T00:00:00.000Z'],
		['2024-02', '2024-02-01T00:00:00.000Z', '2024-03-01T00:00:00.000Z'],
		['2024-02-29', '2024-02-29T00:00:00.000Z', '2024-03-01T00:00:00.000Z'],
		['0099-01-01', '0099-01-01T00:00:00.000Z', '0099-01-02T00:00:00.000Z'],
		['2024-02-29T23:59', '2024-02-29T23:59:00.000Z', '2024-03-01T00:00:00.000Z'],
		['2024-02-29T23:59:59', '2024-02-29T23:59:59.000Z', '2024-03-01T00:00:00.000Z'],
		['2024-02-29T23:59:59Z', '2024-02-29T23:59:59.000Z', '2024-03-01T00:00:00.000Z'],
		['2024-01-01T00:30:00+01:00', '2023-12-31T23:30:00.000Z', '2023-12-31T23:30:01.000Z'],
		['2024-01-01T00:30:00.5-05:30', '2024-01-01T06:00:00.500Z', '2024-01-01T06:00:00.501Z'],
		['2024-01-01T00:00:00.1239999Z', '2024-01-01T00:00:00.123Z', '2024-01-01T00:00:00.124Z'],
		['2016-12-31T23:59:60Z', '2016-12-31T23:59:59.000Z', '2017-01-01T00:00:00.000Z'],
	];
	for (const [text, low, high] of spans) {
		test(text, () => {
			const range = dateRange(text);
			assert.deepEqual(range && [isoInstant(range.startMs), isoInstant(range.endMs)], [low, high]);
		});
	}

	test('what the calendar or the format does not have is no date', () => {
		const others = ['', '24', '0000', '2023-02-29', '2024-13', '2024-00', '2024-04-31', '2024-1-1', '20240101', '2024-01-01T10'];
		const times = [
			'2024-01-01T24:00',
			'2024-01-01T10:60',
			'2024-01-01T10:00:61',
			'2024-01-01T10:00+15:00',
			'2024-01-01T10:00+1:00',
			'2024-01Z',
		];
		for (const text of [...others, ...times]) assert.equal(dateRange(text), undefined, text);
	});
});

describe('the bounds that columns keep', () => {
	test('a birth date of any precision is a range of whole days', () => {
		assert.deepEqual(dayBounds('1970'), ['1970-01-01', '1971-01-01']);
		assert.deepEqual(dayBounds('1970-05'), ['1970-05-01', '1970-06-01']);
		assert.deepEqual(dayBounds('1970-05-17'), ['1970-05-17', '1970-05-18']);
		assert.deepEqual(dayBounds('17.5.1970'), [null, null]);
		assert.deepEqual(dayBounds(undefined), [null, null]);
	});

	test('a period lasts to the end of its last moment, and an absent bound is open', () => {
		assert.deepEqual(periodBounds('2024-03-01', '2024-03-02'), ['2024-03-01T00:00:00.000Z', '2024-03-03T00:00:00.000Z']);
		assert.deepEqual(periodBounds('2024-03-01T10:00:00Z', undefined), ['2024-03-01T10:00:00.000Z', 'infinity']);
		assert.deepEqual(periodBounds(undefined, '2024'), ['-infinity', '2025-01-01T00:00:00.000Z']);
		assert.deepEqual(periodBounds(undefined, undefined), [null, null]);
	});

	test('what a time zone moves out of the years 1 to 9999 is infinite', () => {
		assert.deepEqual(instantBounds('0001-01-01T00:00:00+01:00'), ['-infinity', '-infinity']);
		assert.deepEqual(instantBounds('9999-12-31T23:30:00-01:00'), ['infinity', 'infinity']);
		assert.deepEqual(instantBounds('9999'), ['9999-01-01T00:00:00.000Z', 'infinity']);
		assert.deepEqual(dayBounds('9999-12-31'), ['9999-12-31', 'infinity']);
	});
});
