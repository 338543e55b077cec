import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { Failure } from '#core/failure.ts';
import { patientIdentifiers } from '#record/holdings/patient-identifiers.ts';
import type { Change } from '#record/kinds/index.ts';
import { identifier, mergeChange, patientChange } from '#test/support/change-sets.ts';
import { MemorySite } from '#test/support/memory-site.ts';
import type { FhirBody } from '#test/support/service.ts';

const apply = (site: MemorySite, ...changes: Change[]) => site.apply({ changes, flags: [] });
const merge = (site: MemorySite, survivor: string, prior: string) =>
	apply(site, patientChange(survivor, {}, 'keep'), mergeChange(0, prior));
const unlink = (site: MemorySite, first: string, second: string) =>
	apply(site, { kind: 'unlink', first: [identifier(first)], second: [identifier(second)] });
const edit = (site: MemorySite, operation: 'merge' | 'unmerge', survivor: string, prior: string) =>
	apply(site, { kind: 'identity', edit: { operation, survivor, prior, identifiers: [], actor: 'cli:root' } });

/** A site that knows the patients of the values. */
function siteOf(...values: string[]): MemorySite {
	const site = new MemorySite();
	for (const value of values) apply(site, patientChange(value));
	return site;
}

function refused(change: () => unknown, code: string): void {
	assert.throws(change, (error) => error instanceof Failure && error.code === code, code);
}

const idOf = (site: MemorySite, value: string) => site.set.of(patientIdentifiers).entries(value)[0]?.patientId ?? assert.fail(value);

/** Of each patient by row id: whether active, its links, its identifiers. */
function told(site: MemorySite): Record<string, unknown> {
	const rows = site.rows('Patient').map(({ id, text, links }) => {
		const { active, link = [], identifier: list = [] } = JSON.parse(text) as FhirBody;
		const others = link.map(({ other, type }: FhirBody) => `${type} ${other.reference}`);
		const named = list.map(({ value, use }: FhirBody) => (use === undefined ? value : `${value} ${use}`));
		return [id, { active, others, named, into: links['merged_into'] }];
	});
	return Object.fromEntries(rows);
}

describe('a merge', () => {
	test('lets the survivor carry the identifiers, and everything of the prior patient move to it', () => {
		const site = siteOf('100', '200');
		const [survivor, prior] = [idOf(site, '100'), idOf(site, '200')];
		merge(site, '100', '200');
		assert.deepEqual(told(site), {
			[survivor]: { active: true, others: [`replaces Patient/${prior}`], named: ['100', '200 old'], into: null },
			[prior]: { active: false, others: [`replaced-by Patient/${survivor}`], named: ['200'], into: survivor },
		});
		assert.deepEqual(
			site.set.moves.map(({ from, to, reason }) => [from.id, to.id, reason]),
			[[prior, survivor, 'merge']],
		);
	});

	test('makes the survivor known where he is not', () => {
		const site = siteOf('200');
		merge(site, '100', '200');
		assert.equal(site.rows('Patient').length, 2);
		assert.equal(site.set.moves.length, 1);
	});

	test('of a prior patient who is not known gives the survivor the identifiers, and is flagged', () => {
		const site = siteOf('100');
		const { flags } = merge(site, '100', '200');
		assert.deepEqual(
			flags.map(({ code }) => code),
			['prior-patient-unknown'],
		);
		assert.deepEqual(site.set.moves, []);
		assert.deepEqual(site.set.of(patientIdentifiers).entries('200'), [
			{ system: 'urn:id:MRN', patientId: idOf(site, '100'), old: true, rank: 1 },
		]);
	});

	test('that was made before changes nothing', () => {
		const site = siteOf('100', '200');
		merge(site, '100', '200');
		const before = told(site);
		const { changed } = merge(site, '100', '200');
		assert.deepEqual([changed, told(site), site.set.moves.length], [[], before, 1]);
	});

	for (const [what, earlier, survivor, prior] of [
		['of a patient with itself', [], '100', '100'],
		['the other way round', [['100', '200']], '200', '100'],
		['of a patient who was merged into a third one before', [['300', '200']], '100', '200'],
	] as [string, [string, string][], string, string][]) {
		test(`${what} is refused, and leaves no trace`, () => {
			const site = siteOf('100', '200', '300');
			for (const [into, from] of earlier) merge(site, into, from);
			const before = told(site);
			refused(() => merge(site, survivor, prior), 'key-conflict');
			assert.deepEqual([told(site), site.set.moves.length], [before, earlier.length]);
		});
	}
});

describe('an unlink', () => {
	for (const [first, second] of [
		['100', '200'],
		['200', '100'],
	] as const) {
		test(`of ${first} and ${second} undoes the merge, whichever was replaced`, () => {
			const site = siteOf('100', '200');
			const before = told(site);
			const [survivor, prior] = [idOf(site, '100'), idOf(site, '200')];
			merge(site, '100', '200');
			unlink(site, first, second);
			assert.deepEqual(told(site), before);
			assert.deepEqual(
				site.set.moves.map(({ from, to, reason }) => [from.id, to.id, reason]),
				[
					[prior, survivor, 'merge'],
					[survivor, prior, 'unlink'],
				],
			);
			assert.deepEqual(
				site.set
					.of(patientIdentifiers)
					.entries('200')
					.map(({ patientId, old }) => [patientId, old]),
				[[prior, false]],
			);
		});
	}

	test('of one of two patients who were merged leaves the other merged', () => {
		const site = siteOf('100', '200', '300');
		merge(site, '100', '200');
		merge(site, '100', '300');
		unlink(site, '100', '200');
		assert.deepEqual(
			site.rows('Patient').map(({ links }) => links['merged_into'] !== null),
			[false, false, true],
		);
		assert.deepEqual((told(site)[idOf(site, '100')] as { named: string[] }).named, ['100', '300 old']);
	});

	for (const [what, first, second] of [
		['of patients who are not merged', '100', '200'],
		['of nobody who is known', '8', '9'],
	] as const) {
		test(`${what} is flagged and changes nothing`, () => {
			const site = siteOf('100', '200');
			const { flags, changed } = unlink(site, first, second);
			assert.deepEqual([flags.map(({ code }) => code), changed, site.set.moves], [['unlink-unknown'], [], []]);
		});
	}
});

describe('what a person decides about identity', () => {
	test('is the same as the messages do, between rows', () => {
		const [site, byMessage] = [siteOf('100', '200'), siteOf('100', '200')];
		const [survivor, prior] = [idOf(site, '100'), idOf(site, '200')];
		edit(site, 'merge', survivor, prior);
		merge(byMessage, '100', '200');
		assert.deepEqual(told(site), told(byMessage));
		edit(site, 'unmerge', survivor, prior);
		unlink(byMessage, '100', '200');
		assert.deepEqual(told(site), told(byMessage));
	});

	for (const [what, code, change] of [
		['a patient who is not there', 'not-found', (site: MemorySite, a: string) => edit(site, 'merge', a, 'nobody')],
		['a patient with itself', 'key-conflict', (site: MemorySite, a: string) => edit(site, 'merge', a, a)],
		['patients who are not merged apart', 'key-conflict', (site: MemorySite, a: string, b: string) => edit(site, 'unmerge', a, b)],
		[
			'a patient who was merged before',
			'key-conflict',
			(site: MemorySite, a: string, b: string) => [merge(site, '100', '200'), edit(site, 'merge', a, b)],
		],
	] as const) {
		test(`${what}: is refused`, () => {
			const site = siteOf('100', '200');
			refused(() => change(site, idOf(site, '100'), idOf(site, '200')), code);
		});
	}
});
