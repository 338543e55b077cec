import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { Failure } from '#core/failure.ts';
import { visitKey, visits } from '#record/holdings/visits.ts';
import type { EncounterChange } from '#record/kinds/encounter.ts';
import type { Change } from '#record/kinds/index.ts';
import { documentChange, identifier, mergeChange, patientChange } from '#test/support/change-sets.ts';
import { MemorySite } from '#test/support/memory-site.ts';

const apply = (site: MemorySite, ...changes: Change[]) => site.apply({ changes, flags: [] });
const visit = (number: string, status: string, unknown: 'create' | 'flag' = 'create', patient = 0): EncounterChange => ({
	...{ kind: 'encounter', ref: 1, patient, visit: { value: number }, unknown },
	patch: { elements: { status }, parts: {} },
});

describe('a patient', () => {
	test('who is known takes what an ADT message states, and stays as he is for a result', () => {
		const site = new MemorySite();
		apply(site, patientChange('100', { gender: 'female' }));
		apply(site, patientChange('100', { gender: 'male' }, 'keep'));
		assert.equal(site.resources('Patient')[0]?.['gender'], 'female');
		apply(site, patientChange('100', { gender: 'male' }));
		assert.deepEqual(
			site.resources('Patient').map(({ gender }) => gender),
			['male'],
		);
	});

	test('of a message under an identifier that was merged away is the survivor, who is not renamed', () => {
		const site = new MemorySite();
		for (const value of ['100', '200']) apply(site, patientChange(value));
		apply(site, patientChange('100', {}, 'keep'), mergeChange(0, '200'));
		apply(site, patientChange('200', { gender: 'male' }));
		const [survivor, prior] = site.resources('Patient');
		assert.deepEqual([survivor?.['gender'], prior?.['gender']], ['male', undefined]);
		assert.deepEqual(survivor?.['identifier'], [identifier('100'), { ...identifier('200'), use: 'old' }]);
	});

	test('whom two authorities number alike is told apart by the authority, and without one is refused', () => {
		const site = new MemorySite();
		const of = (system?: string): Change => {
			const id = { value: '100', ...(system && { system }) };
			return {
				kind: 'patient',
				ref: 0,
				identifiers: [id],
				patch: { elements: {}, parts: { identifier: { 'PID-3': [id] } } },
				known: 'update',
				sequence: 1,
			};
		};
		apply(site, of('urn:a'));
		apply(site, of('urn:b'));
		apply(site, of('urn:a'));
		assert.equal(site.rows('Patient').length, 2);
		assert.throws(
			() => apply(site, of()),
			(error) => error instanceof Failure && error.code === 'ambiguous-key',
		);
	});

	test('with another name and another birth date is flagged as perhaps two people', () => {
		const site = new MemorySite();
		const named = (family: string, birthDate: string): Change => ({
			...(patientChange('100') as Extract<Change, { kind: 'patient' }>),
			patch: { elements: { name: [{ family }], birthDate }, parts: { identifier: { 'PID-3': [identifier('100')] } } },
		});
		const codes = (change: Change) => apply(site, change).flags.map(({ code }) => code);
		assert.deepEqual([named('Doe', '1990'), named('Doe', '1991'), named('Roe', '1991')].map(codes), [[], [], []]);
		assert.deepEqual(codes(named('Poe', '1992')), ['possible-overlay']);
	});

	test('of a document that was replaced before stays as he is', () => {
		const site = new MemorySite();
		apply(site, patientChange('100', { gender: 'female' }), documentChange('d', 2, []));
		apply(site, patientChange('100', { gender: 'male' }), documentChange('d', 1, []));
		assert.equal(site.resources('Patient')[0]?.['gender'], 'female');
		apply(site, patientChange('100', { gender: 'male' }), documentChange('d', 3, []));
		assert.equal(site.resources('Patient')[0]?.['gender'], 'male');
	});
});

describe('a visit', () => {
	test('is created by its number, then updated; it belongs to its patient', () => {
		const site = new MemorySite();
		apply(site, patientChange('100'), visit('V1', 'planned'));
		apply(site, patientChange('200'), visit('V1', 'planned'));
		apply(site, patientChange('100'), visit('V1', 'finished'));
		assert.deepEqual(
			site.resources('Encounter').map(({ status }) => status),
			['finished', 'planned'],
		);
		assert.equal(site.set.of(visits).of(visitKey({ value: 'V1' })).length, 2);
	});

	test('that is not known is flagged where the event may not create it', () => {
		const site = new MemorySite();
		const { flags } = apply(site, patientChange('100'), visit('V1', 'finished', 'flag'));
		assert.deepEqual([flags.map(({ code }) => code), site.resources('Encounter')], [['unknown-visit'], []]);
	});

	test('never ends before it begins', () => {
		const site = new MemorySite();
		const period = (elements: Record<string, string>): Change => ({ ...visit('V1', 'finished'), patch: { elements, parts: {} } });
		apply(site, patientChange('100'), period({ 'period.start': '2026-02-02' }));
		const { flags } = apply(site, patientChange('100'), period({ 'period.end': '2026-01-01' }));
		assert.deepEqual(
			flags.map(({ code }) => code),
			['unreadable-value'],
		);
		assert.deepEqual(site.resources('Encounter')[0]?.['period'], { start: '2026-02-02' });
	});
});
