import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { Failure } from '#core/failure.ts';
import { identifierList } from '#fhir/mapping/patient.ts';
import { identityDoubts } from '#record/holdings/identity-doubts.ts';
import { AmbiguousNumber } from '#record/identity/ambiguous.ts';
import type { PatientChange } from '#record/kinds/patient.ts';
import type { Identifier } from '#record/resource-patch.ts';
import { documentChange, itemChange } from '#test/support/change-sets.ts';
import { MemorySite } from '#test/support/memory-site.ts';
import type { FhirBody } from '#test/support/service.ts';

/** `MRN|9`, `MRN|9|MR`; without an authority `|9`. */
function numbers(text: string): [Identifier, ...Identifier[]] {
	const [first, ...others] = text.split(' ').map((one): Identifier => {
		const [authority = '', value = '', type = ''] = one.split('|');
		return {
			value,
			...(type !== '' && { type: { coding: [{ code: type }] } }),
			...(authority !== '' && { system: `urn:id:${authority}` }),
		};
	});
	return [first ?? assert.fail(), ...others];
}

function patient(text: string, known: 'update' | 'keep' = 'update', more: Partial<PatientChange> = {}): PatientChange {
	const identifiers = numbers(text);
	return {
		...{ kind: 'patient', ref: 0, identifiers, known, sequence: 1 },
		patch: { elements: {}, parts: { identifier: { 'PID-3': identifierList(identifiers) } } },
		...more,
	};
}

const send = (site: MemorySite, text: string, known: 'update' | 'keep' = 'update', more: Partial<PatientChange> = {}) =>
	site.apply({ changes: [patient(text, known, more)], flags: [] });
const merge = (site: MemorySite, survivor: string, prior: string) =>
	site.apply({
		changes: [patient(survivor, 'keep'), { kind: 'merge', survivor: 0, prior: numbers(prior), sequence: 1 }],
		flags: [],
	});

/** Of each patient: its numbers, those of a merge with a star; `-` in front when it was replaced. */
function told(site: MemorySite): string[] {
	return site.rows('Patient').map(({ text, links }) => {
		const list: FhirBody[] = JSON.parse(text).identifier ?? [];
		const shown = list.map(({ system, value, use }) => `${(system ?? '').slice('urn:id:'.length)}|${value}${use === 'old' ? '*' : ''}`);
		return `${links['merged_into'] === null ? '' : '-'}${shown.join(' ')}`;
	});
}

const doubts = (site: MemorySite) => [...site.set.of(identityDoubts).recorded.values()].map(({ kind, count }) => `${kind} ${count}`);
const codes = ({ flags }: { flags: readonly { code: string }[] }) => flags.map(({ code }) => code);

describe('a patient is found by every number', () => {
	for (const [what, messages, expected] of [
		['a new number in front of a known one', ['H|9', 'E|9 H|9'], ['E|9 H|9']],
		['a new number behind a known one', ['H|9', 'H|9 E|9'], ['H|9 E|9']],
		['the new number alone afterwards', ['H|9', 'E|1 H|9', 'E|1'], ['E|1 H|9']],
		['one of two numbers keeps that of the other authority', ['E|1 H|9', 'H|9'], ['H|9 E|1']],
		['a corrected number of the same authority replaces the former one', ['E|1 H|9', 'E|1 H|8'], ['E|1 H|8']],
		['an account does not identify', ['H|9 A|1|AN', 'H|8 A|1|AN'], ['H|9 A|1', 'H|8 A|1']],
		[
			'a visit, a licence, a subscriber and a social security number do not',
			['H|9 A|1|VN', 'H|8 A|1|VN A|2|DL'],
			['H|9 A|1', 'H|8 A|1 A|2'],
		],
		['an account in front of the number does not', ['A|1|AN H|9', 'A|1|AN H|8'], ['A|1 H|9', 'A|1 H|8']],
		['an account alone does, because the sender has nothing else', ['A|1|AN', 'A|1|AN'], ['A|1']],
		['a number with and without its authority is one', ['H|9 L|1', '|9 H|9'], ['H|9 L|1']],
		['a number without an authority finds the one of any', ['H|9', '|9'], ['H|9']],
		['a number without an authority beside one with', ['H|9', 'L|9', '|9 H|9'], ['H|9', 'L|9']],
	] as [string, string[], string[]][]) {
		test(what, () => {
			const site = new MemorySite();
			for (const message of messages) assert.deepEqual(codes(send(site, message)), []);
			assert.deepEqual(told(site), expected);
			assert.deepEqual(doubts(site), []);
		});
	}

	test('a result, which changes nothing else, adds the new number too', () => {
		const site = new MemorySite();
		send(site, 'H|9');
		const { changed } = send(site, 'E|1 H|9', 'keep');
		assert.equal(changed.length, 1);
		assert.deepEqual(told(site), ['H|9 E|1']);
		assert.deepEqual(send(site, 'E|1', 'keep').changed, [], 'what is known changes nothing');
		assert.equal(site.rows('Patient').length, 1);
	});

	test('the number of a patient who was merged leads to the survivor, who gets the new one beside it', () => {
		const site = new MemorySite();
		for (const number of ['H|1', 'H|2']) send(site, number);
		merge(site, 'H|1', 'H|2');
		send(site, 'E|7 H|2');
		assert.deepEqual(told(site), ['H|1 H|2* E|7', '-H|2']);
		send(site, 'H|1 H|2');
		assert.deepEqual(told(site), ['H|1 E|7 H|2*', '-H|2'], 'a merged number is not made the survivor’s own');
	});

	test('items and documents are those of the patient whom any number names', () => {
		const site = new MemorySite();
		const both = (text: string, onset: string) => site.apply({ changes: [patient(text), itemChange('I', onset)], flags: [] });
		both('H|9', '2020');
		both('E|1 H|9', '2021');
		assert.deepEqual(
			site.resources('Condition').map(({ onsetDateTime }) => onsetDateTime),
			['2021'],
		);
		const document = (text: string, version: number) =>
			site.apply({ changes: [patient(text), documentChange('d', version, [])], flags: [] });
		document('H|9', 2);
		document('X|5 H|9', 1);
		assert.equal(site.rows('Patient').length, 1);
		assert.equal(site.resources('DocumentReference').filter(({ status }) => status === 'superseded').length, 1);
	});

	test('of whom a sender numbers each message anew gets no numbers without end', () => {
		const site = new MemorySite();
		send(site, 'H|9');
		for (let number = 0; number < 199; number++) send(site, `H|9 L|${number}`, 'keep');
		assert.deepEqual(codes(send(site, 'H|9 L|last', 'keep')), ['number-not-added']);
		assert.equal(told(site)[0]?.split(' ').length, 200);
	});
});

describe('numbers of two patients', () => {
	for (const [what, message, more, taken] of [
		['the first one decides', 'H|1 L|2', {}, 0],
		['the first one decides, whichever it is', 'L|2 H|1', {}, 1],
		['a medical record number decides before it', 'L|2 H|1|MR', {}, 0],
		['the default authority decides before all', 'H|1|MR L|2', { authority: 'urn:id:L' }, 1],
	] as [string, string, Partial<PatientChange>, number][]) {
		test(`${what}; it is flagged and listed, and no number moves`, () => {
			const site = new MemorySite();
			send(site, 'H|1');
			send(site, 'L|2');
			for (const known of ['update', 'keep'] as const) {
				const context = send(site, message, known, { ...more, ...(known === 'update' && { patch: patchOf(message, '2000') }) });
				assert.deepEqual(codes(context), ['identifiers-disagree']);
			}
			assert.deepEqual(told(site), ['H|1', 'L|2']);
			assert.deepEqual(
				site.resources('Patient').map(({ birthDate }) => birthDate),
				taken === 0 ? ['2000', undefined] : [undefined, '2000'],
			);
			assert.deepEqual(doubts(site), ['identifiers-disagree 2']);
		});
	}

	const patchOf = (text: string, birthDate: string) => ({
		elements: { birthDate },
		parts: { identifier: { 'PID-3': identifierList(numbers(text)) } },
	});

	test('one new number goes to the patient that was taken', () => {
		const site = new MemorySite();
		for (const number of ['H|1', 'L|2']) send(site, number);
		send(site, 'H|1 L|2 E|3', 'keep');
		assert.deepEqual(told(site), ['H|1 E|3', 'L|2']);
	});

	test('without an authority, and nothing else: refused', () => {
		const site = new MemorySite();
		for (const number of ['H|1', 'L|1']) send(site, number);
		assert.throws(
			() => send(site, '|1'),
			(error) => error instanceof AmbiguousNumber && error.doubt.kind === 'number-ambiguous' && error.doubt.otherPatientId !== undefined,
		);
		assert.deepEqual(codes(send(site, '|1 L|1')), [], 'another number says whose it is');
	});
});

describe('MRG-1', () => {
	const siteOf = (...known: string[]) => {
		const site = new MemorySite();
		for (const number of known) send(site, number);
		return site;
	};

	for (const [what, survivor, prior, code] of [
		['with numbers of two patients', 'H|1', 'H|2 H|3', 'unknown-key'],
		['with a number of the survivor', 'H|1', 'H|2 E|1', 'unknown-key'],
		['with the survivor’s numbers alone', 'H|1 E|1', 'E|1 H|1', 'key-conflict'],
	] as const) {
		test(`${what} is refused, and leaves no trace`, () => {
			const site = siteOf('H|1 E|1', 'H|2', 'H|3');
			const before = told(site);
			assert.throws(
				() => merge(site, survivor, prior),
				(error) => error instanceof Failure && error.code === code,
			);
			assert.deepEqual([told(site), site.set.moves], [before, []]);
		});
	}

	test('with two numbers of one patient, or a new one beside, names that patient', () => {
		const site = siteOf('H|1', 'H|2 E|2');
		merge(site, 'H|1', 'E|2 H|2 X|4');
		assert.deepEqual(told(site), ['H|1 E|2* H|2* X|4*', '-H|2 E|2']);
	});

	test('beside a number that PID-3 has too, names the other one', () => {
		const site = siteOf('H|1 E|1', 'H|2');
		merge(site, 'E|1 H|1', 'E|1 H|2');
		assert.deepEqual(told(site), ['H|1 E|1 H|2*', '-H|2']);
	});
});

test('A37 names a merge by any of the numbers', () => {
	const site = new MemorySite();
	for (const number of ['H|1 E|1', 'H|2 E|2']) send(site, number);
	merge(site, 'H|1', 'H|2');
	site.apply({ changes: [{ kind: 'unlink', first: numbers('X|9 E|1'), second: numbers('Y|9 E|2') }], flags: [] });
	assert.deepEqual(told(site), ['H|1 E|1', 'H|2 E|2']);
});
