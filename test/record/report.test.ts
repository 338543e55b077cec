import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type ContentChange, nextStatus } from '#record/report.ts';

const cases: [string | undefined, string, ContentChange, string][] = [
	[undefined, 'preliminary', 'none', 'preliminary'],
	[undefined, 'corrected', 'none', 'corrected'],
	['preliminary', 'final', 'changed', 'final'],
	['final', 'final', 'none', 'final'],
	['final', 'final', 'changed', 'amended'],
	['final', 'final', 'added', 'appended'],
	['amended', 'final', 'none', 'amended'],
	['corrected', 'final', 'changed', 'amended'],
	['final', 'corrected', 'none', 'corrected'],
	['final', 'preliminary', 'changed', 'late'],
	['amended', 'unknown', 'changed', 'late'],
	['final', 'cancelled', 'none', 'entered-in-error'],
	['preliminary', 'cancelled', 'none', 'cancelled'],
	['cancelled', 'final', 'changed', 'final'],
];

for (const [held, stated, change, expected] of cases) {
	test(`${held ?? 'a new report'}, stated ${stated}, content ${change}: ${expected}`, () => {
		const next = nextStatus(held, stated, change);
		assert.equal(next === 'late' ? next : next.status, expected);
	});
}
