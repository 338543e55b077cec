import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type ContentChange, nextStatus } from '#record/report.ts';
import type { Age } from '#record/result-precedence.ts';

const cases: [held: string | undefined, stated: string, change: ContentChange, expected: string, age?: Age][] = [
	[undefined, 'preliminary', 'none', 'preliminary'],
	[undefined, 'corrected', 'none', 'corrected'],
	['preliminary', 'final', 'changed', 'final'],
	['final', 'final', 'none', 'final'],
	['final', 'final', 'changed', 'amended'],
	['final', 'final', 'added', 'appended'],
	['amended', 'final', 'none', 'amended'],
	['amended', 'final', 'changed', 'amended'],
	['corrected', 'final', 'changed', 'late', 'newer'],
	['corrected', 'final', 'added', 'corrected', 'newer'],
	['corrected', 'final', 'added', 'late', 'older'],
	['final', 'final', 'changed', 'late', 'older'],
	['final', 'final', 'none', 'late', 'older'],
	['corrected', 'final', 'none', 'late', 'older'],
	['final', 'corrected', 'changed', 'corrected', 'older'],
	['corrected', 'corrected', 'changed', 'late', 'older'],
	['preliminary', 'partial', 'changed', 'late', 'older'],
	['preliminary', 'final', 'changed', 'final', 'older'],
	['final', 'cancelled', 'none', 'late', 'older'],
	['entered-in-error', 'cancelled', 'none', 'entered-in-error'],
	['final', 'corrected', 'none', 'corrected'],
	['final', 'preliminary', 'changed', 'late'],
	['amended', 'unknown', 'changed', 'late'],
	['final', 'cancelled', 'none', 'entered-in-error'],
	['preliminary', 'cancelled', 'none', 'cancelled'],
	['cancelled', 'final', 'changed', 'final'],
];

for (const [held, stated, change, expected, age = 'equal'] of cases) {
	test(`${held ?? 'a new report'}, stated ${stated}, content ${change}, ${age}: ${expected}`, () => {
		const next = nextStatus(held, stated, change, age);
		assert.equal(next === 'late' ? next : next.status, expected);
	});
}
