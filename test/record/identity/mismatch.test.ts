import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { JsonObject } from '#core/json.ts';
import { identityDoubts } from '#record/holdings/identity-doubts.ts';
import { imaging } from '#record/holdings/imaging.ts';
import { HeldForPerson } from '#record/identity/held.ts';
import { mismatch, surelyMatches } from '#record/identity/mismatch.ts';
import type { PatientChange } from '#record/kinds/patient.ts';
import { identifier } from '#test/support/change-sets.ts';
import { MemorySite } from '#test/support/memory-site.ts';
import { storedInstance } from '#test/support/stored-instance.ts';

/** `family^given^middle|birth date|sex`; each part may be empty. Several names are parted by `~`. */
function person(text: string): JsonObject {
	const [names = '', birthDate = '', gender = ''] = text.split('|');
	const list = names.split('~').map((name): JsonObject => {
		const [family = '', ...given] = name.split('^');
		return { ...(family !== '' && { family }), ...(given.length > 0 && { given }) };
	});
	return {
		...(names !== '' && { name: list }),
		...(birthDate !== '' && { birthDate }),
		...(gender !== '' && { gender }),
	};
}

describe('two statements about a person', () => {
	for (const [held, stated, differing] of [
		['Doe^Jane|1970-01-31|female', 'Doe^Jane|1970-01-31|female', []],
		['Right|1950-01-01|male', 'WrongPerson|1980-01-02|female', ['name', 'birth date', 'sex']],
		['Doe^Jane|1970-01-31|female', 'Roe^Mary|1980-01-31|female', ['name', 'birth date']],
		['Doe^Jane|1970-01-31|female', 'Roe^Mary|1970-01-31|male', ['name', 'sex']],
		['Doe^Jane|1970-01-31|female', 'Doe^Jane|1980-01-31|male', ['birth date', 'sex']],
		// One fact alone: a marriage, a mistyped date, a mistyped sex.
		['Doe^Jane|1970-01-31|female', 'Smith^Jane|1970-01-31|female', []],
		['Doe^Jane|1970-01-31|female', 'Doe^Jane|1971-01-31|female', []],
		['Doe^Jane|1970-01-31|female', 'Doe^Jane|1970-01-31|male', []],
		// What one side does not state is not compared.
		['Doe^Jane|1970-01-31|', 'Roe^Mary||male', []],
		['|1970-01-31|female', 'Roe^Mary|1970-01-31|male', []],
		['Doe^Jane|1970-01-31|unknown', 'Roe^Mary|1970-01-31|male', []],
		['Doe^Jane|1970-01-31|other', 'Roe^Mary|1970-01-31|female', []],
		// Case, accents, order, punctuation, missing parts.
		['Müller^Änne|1970-01-31|', 'MULLER^ANNE|1980-01-31|', []],
		['Müller^Jörg|1970-01-31|', 'Mueller^Joerg|1980-01-31|', []],
		["O'Neil^Ann-Marie|1970-01-31|", 'ONeil^Ann Marie|1980-01-31|', []],
		['Doe^Jane^Alice|1970-01-31|', 'Doe^Jane|1980-01-31|', []],
		['Doe^J|1970-01-31|', 'Doe^Jane|1980-01-31|', []],
		['Jane^Doe|1970-01-31|', 'Doe^Jane|1980-01-31|', []],
		['Doe|1970-01-31|', 'Doe^Jane|1980-01-31|', []],
		['Straße^Łukasz|1970|', 'STRASSE^LUKASZ|1980|', []],
		['Doe^Jane|1970-01-31|', 'Doe^Mary|1980-01-31|', ['name', 'birth date']],
		// Any name of either side: maiden names, aliases.
		['Smith^Jane~Doe^Jane|1970-01-31|', 'Doe^Jane|1980-01-31|', []],
		// Other scripts say nothing.
		['山田^太郎|1970-01-31|', 'Yamada^Taro|1980-01-31|', []],
		['山田^太郎|1970-01-31|', '鈴木^一郎|1980-01-31|', ['name', 'birth date']],
		// The precision that both have.
		['Doe^Jane|1970|', 'Roe^Mary|1970-05-17|', []],
		['Doe^Jane|1970-05|', 'Roe^Mary|1970-06-17|', ['name', 'birth date']],
	] as [string, string, string[]][]) {
		test(`${held} and ${stated}: ${differing.join(', ') || 'the same'}`, () => {
			assert.deepEqual(mismatch(person(held), person(stated)), differing);
			assert.deepEqual(mismatch(person(stated), person(held)), differing, 'the other way round');
			if (surelyMatches(JSON.stringify(person(held)), person(stated))) assert.deepEqual(differing, []);
		});
	}
});

describe('a known number with another person', () => {
	const change = (text: string, known: 'update' | 'keep'): PatientChange => {
		const id = identifier('100');
		const patch = { elements: person(text) as PatientChange['patch']['elements'], parts: { identifier: { 'PID-3': [id] } } };
		return { kind: 'patient', ref: 0, identifiers: [id], patch, known, sequence: 1 };
	};

	test('is held, or taken as it comes, as its sender has it; an image is kept without the patient', () => {
		const site = new MemorySite();
		site.apply({ changes: [change('Doe^Jane|1970-01-31|female', 'update')], flags: [] });
		const other = change('Roe^Mary|1980-01-31|female', 'update');
		const before = site.texts('Patient');
		for (const known of ['update', 'keep'] as const) {
			assert.throws(() => site.apply({ changes: [{ ...other, known }], flags: [] }, { mismatch: 'hold' }), HeldForPerson);
		}
		assert.deepEqual([site.texts('Patient'), [...site.set.of(identityDoubts).recorded]], [before, []]);
		const named = { ...other, known: 'keep' } as const;
		site.apply(
			{ changes: [{ kind: 'instance', named, instance: storedInstance(1, 'content'), otherPatient: 'aside' }], flags: [] },
			{ mismatch: 'hold' },
		);
		assert.deepEqual(
			[...site.set.of(imaging).newInstances.values()].map(({ patientId }) => patientId),
			[null],
		);
		assert.deepEqual(
			[...site.set.of(identityDoubts).recorded.values()].map(({ kind }) => kind),
			['mismatch', 'unmatched-study'],
		);
		assert.deepEqual(site.apply({ changes: [other], flags: [] }, { mismatch: 'accept' }).flags, []);
		assert.notDeepEqual(site.texts('Patient'), before);
	});

	for (const [known, code, family] of [
		['update', 'possible-overlay', 'Roe'],
		['keep', 'mismatch', 'Doe'],
	] as const) {
		test(`is flagged ${code} and listed, however often it comes, when the message is to ${known} the patient`, () => {
			const site = new MemorySite();
			const send = (text: string, how: 'update' | 'keep') => site.apply({ changes: [change(text, how)], flags: [] }).flags;
			assert.deepEqual(send('Doe^Jane|1970-01-31|female', 'update'), []);
			const flags = [send('Roe^Mary|1980-01-31|female', known), send('Roe^Mary|1980-01-31|female', known)].map((list) =>
				list.map((flag) => flag.code),
			);
			// An update makes the record what the message says.
			assert.deepEqual(flags, known === 'keep' ? [[code], [code]] : [[code], []]);
			const [doubt, ...others] = site.set.of(identityDoubts).recorded.values();
			assert.deepEqual([doubt?.kind, doubt?.count, others], ['mismatch', known === 'keep' ? 2 : 1, []]);
			assert.doesNotMatch(doubt?.text ?? '', /Roe|1980/);
			assert.deepEqual(site.resources('Patient')[0]?.['name'], [person(`${family}^${family === 'Roe' ? 'Mary' : 'Jane'}`)['name']].flat());
		});
	}
});
