import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { JsonObject } from '#core/json.ts';
import { applyPatch } from '#record/apply/patch.ts';
import { identifiersOf } from '#record/apply/patient.ts';
import { WorkingSet } from '#record/apply/working-set.ts';
import { type PatientIdentifier, patientIdentifiers } from '#record/holdings/patient-identifiers.ts';

const count = 20_000;
/** How often each item of a list may be looked at; what compares every item with every other one looks thousands of times. */
const looksMax = 10 * count;

/** Items whose `value` counts how often it is read. */
function counted<T extends object>(items: readonly T[], valueAt: (index: number) => string): { items: T[]; looks: () => number } {
	let looks = 0;
	const watched = items.map((item, index) =>
		Object.defineProperty({ ...item }, 'value', {
			enumerable: true,
			get: () => {
				looks++;
				return valueAt(index);
			},
		}),
	) as T[];
	return { items: watched, looks: () => looks };
}

const plain = Array.from({ length: count }, (_, index): JsonObject => ({ system: `urn:${index % 7}` }));

describe('a patient with very many identifiers', () => {
	test('the list for the index is made in one pass, each identifier once', () => {
		const { items, looks } = counted(plain, (index) => `U${index % 15_000}`);
		const found = identifiersOf({ identifier: items });
		assert.equal(found.length, new Set(plain.map(({ system }, index) => `${system} U${index % 15_000}`)).size);
		assert.ok(looks() <= looksMax, `${looks()} looks`);
	});

	test('what a message does not name is kept in one pass, and nothing is doubled', () => {
		const held = counted(
			plain.map((item): JsonObject => ({ ...item, use: 'old' })),
			(index) => `O${index}`,
		);
		const told = counted(plain, (index) => `U${index}`);
		const resource: JsonObject = { identifier: held.items };
		applyPatch(resource, { elements: {}, parts: { identifier: { 'PID-3': told.items } } });
		assert.equal((resource['identifier'] as unknown[]).length, 2 * count);
		assert.ok(held.looks() + told.looks() <= 2 * looksMax, `${held.looks() + told.looks()} looks`);
	});

	for (const [title, valueAt] of [
		['of different values', (index: number) => `U${index}`],
		['of one value in different systems', () => 'U'],
	] as const) {
		test(`the working set replaces a list ${title} in one pass`, () => {
			const set = new WorkingSet().of(patientIdentifiers);
			const rows = plain.map((_, rank): PatientIdentifier => ({ value: '', system: `urn:${rank}`, old: false, rank }));
			const { items, looks } = counted(rows, valueAt);
			set.put('patient', [], items);
			const entries = set.entries('U');
			set.put('patient', items, items);
			assert.equal(set.entries('U').length, entries.length);
			assert.ok(looks() <= looksMax, `${looks()} looks`);
		});
	}

	test('identifiers that differ in where system and value are parted are two', () => {
		const identifier = [
			{ system: 'a', value: 'bc' },
			{ system: 'ab', value: 'c' },
			{ system: 'a', value: 'bc' },
		];
		assert.equal(identifiersOf({ identifier }).length, 2);
	});
});
