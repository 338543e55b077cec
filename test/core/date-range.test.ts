import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { dateRange, endsBeforeStart } from '#core/date-range.ts';

describe('the range of a date', () => {
	const ranges: [string, string, string][] = [
		['2024', '2024-01-01T00:00:00.000Z', '2025-01-01T00:00:00.000Z'],
		['2024-02', '2024-02-01T00:00:00.000Z', '2024-03-01T00:00:00.000Z'],
		['2024-12', '2024-12-01T00:00:00.000Z', '2025-01-01T00:00:00.000Z'],
		['2024-02-29', '2024-02-29T00:00:00.000Z', '2024-03-01T00:00:00.000Z'],
		['2024-03-01T09:30', '2024-03-01T09:30:00.000Z', '2024-03-01T09:31:00.000Z'],
		['2024-03-01T09:30:15', '2024-03-01T09:30:15.000Z', '2024-03-01T09:30:16.000Z'],
		['2024-03-01T09:30:15.5', '2024-03-01T09:30:15.500Z', '2024-03-01T09:30:15.501Z'],
		['2024-03-01T09:30:15.123456Z', '2024-03-01T09:30:15.123Z', '2024-03-01T09:30:15.124Z'],
		['2024-03-01T00:30:00+02:00', '2024-02-29T22:30:00.000Z', '2024-02-29T22:30:01.000Z'],
		['2024-03-01T00:30:00-05:30', '2024-03-01T06:00:00.000Z', '2024-03-01T06:00:01.000Z'],
		['2016-12-31T23:59:60Z', '2016-12-31T23:59:59.000Z', '2017-01-01T00:00:00.000Z'],
		['0099', '0099-01-01T00:00:00.000Z', '0100-01-01T00:00:00.000Z'],
	];
	for (const [text, start, end] of ranges) {
		test(`${text} is from ${start} until before ${end}`, () => {
			const range = dateRange(text) ?? assert.fail();
			assert.deepEqual(
				[range.startMs, range.endMs].map((ms) => new Date(ms).toISOString()),
				[start, end],
			);
		});
	}

	const none = `0000 24 2024-13 2024-00 2023-02-29 2024-04-31 2024-1-1 2024-03-01T24:00 2024-03-01T09:60 2024-03-01T09:30:61
		2024-03-01T09 2024-03-01T09:30+15:00 2024-03-01T09:30+01:60 2024-03-01T09:30:00.Z 2024-03-01Z today`.split(/\s+/);
	for (const text of none) test(`${text} is none`, () => assert.equal(dateRange(text), undefined));
});

describe('a period ends before its start', () => {
	const periods: [string, string, boolean][] = [
		['2024-03-02', '2024-03-01', true],
		['2024-03-01', '2024-03-01', false],
		['2024-03', '2024-03-01', false],
		['2024-03-15', '2024', false],
		['2024-03-01T10:00:00Z', '2024-03-01T09:59:59Z', true],
		['2024-03-01T10:00:00+02:00', '2024-03-01T09:00:00Z', false],
		// A day without a time zone may be a day anywhere.
		['2024-03-02T01:00:00Z', '2024-03-01', false],
		['2024-03-02T20:00:00Z', '2024-03-01', true],
		['2024-03-02', 'unknown', false],
	];
	for (const [start, end, expected] of periods) {
		test(`${start} to ${end}: ${expected ? 'yes' : 'no'}`, () => assert.equal(endsBeforeStart(start, end), expected));
	}
});
