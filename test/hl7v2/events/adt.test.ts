import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { encounters, failureOf, patients, read } from '../reading.ts';

const also = ['A02', 'A03', 'A11', 'A13', 'A28', 'A31', 'A37'];
const pid = 'PID|1||100^^^HOSP||Doe^Jane||19800517|F';
const pv1 = 'PV1|1|I|W1||||||||||||||||V1';

describe('ADT events about one patient', () => {
	for (const type of ['ADT^A01', 'ADT^A04', 'ADT^A08']) {
		test(`${type} updates the patient and, with PV1, the visit`, () => {
			const set = read(type, ['EVN|A01', pid, pv1]);
			assert.deepEqual(
				set.changes.map(({ kind }) => kind),
				['patient', 'encounter'],
			);
			assert.equal(patients(set)[0]?.known, 'update');
			assert.equal(encounters(set)[0]?.patient, patients(set)[0]?.ref);
		});
		test(`${type} without PV1 updates the patient alone`, () => {
			assert.deepEqual(
				read(type, [pid]).changes.map(({ kind }) => kind),
				['patient'],
			);
		});
	}
	for (const type of ['ADT^A02', 'ADT^A03', 'ADT^A11', 'ADT^A13']) {
		test(`${type} is about the visit: a known patient stays as it is`, () => {
			const set = read(type, [pid, pv1], { also });
			assert.equal(patients(set)[0]?.known, 'keep');
			assert.equal(encounters(set).length, 1);
		});
	}
	for (const type of ['ADT^A28', 'ADT^A31']) {
		test(`${type} is about the person: no visit`, () => {
			const set = read(type, [pid, pv1], { also });
			assert.deepEqual(
				set.changes.map(({ kind }) => kind),
				['patient'],
			);
			assert.equal(patients(set)[0]?.known, 'update');
		});
	}
	for (const type of ['ADT^A01', 'ADT^A08', 'ADT^A28']) {
		test(`OBX and IAM of an ${type} are left out and flagged`, () => {
			const set = read(type, [pid, 'OBX|1|NM|H^Height^L||180|cm|||||F', 'OBX|2|NM|W^Weight^L||75|kg|||||F', 'IAM|1||A^Penicillin'], {
				also,
			});
			assert.deepEqual(set.flags, [{ code: 'segment-skipped', text: '2 OBX and 1 IAM left out: these segments are not read in ADT' }]);
		});
	}
	test('lines that are no segments are left out and flagged', () => {
		const set = read('ADT^A08', [pid, 'a line of text', 'PIDX|1']);
		const text = '2 lines begin with no segment id and a field separator, and what they hold was left out';
		assert.deepEqual(set.flags, [{ code: 'segment-skipped', text }]);
	});
	for (const type of ['ADT^A01', 'ADT^A04', 'ADT^A08', 'ADT^A03', 'ADT^A31']) {
		test(`a second PID in an ${type} is left out and flagged`, () => {
			const set = read(type, [pid, 'PID|2||200'], { also });
			assert.equal(patients(set).length, 1);
			assert.deepEqual(set.flags, [{ code: 'segment-skipped', text: 'PID[2] was left out: the event is about one patient' }]);
		});
	}
});

describe('ADT^A40', () => {
	test('every PID/MRG pair becomes a merge, in order', () => {
		const set = read('ADT^A40', [pid, 'MRG|200^^^HOSP~201^^^GP', 'PID|2||300^^^HOSP', 'PD1|1', 'MRG|400^^^HOSP', 'PV1|1|I']);
		assert.deepEqual(
			set.changes.map(({ kind }) => kind),
			['patient', 'merge', 'patient', 'merge'],
		);
		const [, first, second, third] = set.changes;
		assert.ok(first?.kind === 'merge' && second?.kind === 'patient' && third?.kind === 'merge');
		assert.deepEqual(first.prior, [
			{ value: '200', system: 'urn:id:HOSP' },
			{ value: '201', system: 'urn:id:GP' },
		]);
		assert.equal(third.survivor, second.ref);
		assert.equal(third.sequence, 2);
		assert.equal(second.known, 'keep');
	});
	test('a second MRG behind one PID merges into the same survivor', () => {
		const set = read('ADT^A40', [pid, 'MRG|200', 'MRG|201']);
		const merges = set.changes.filter((change) => change.kind === 'merge');
		assert.equal(merges.length, 2);
		const survivors = merges.map(({ survivor }) => patients(set).find(({ ref }) => ref === survivor)?.identifiers[0].value);
		assert.deepEqual(survivors, ['100', '100']);
	});
	test('MRG-1 without authority takes that of the site', () => {
		const set = read('ADT^A40', [pid, 'MRG|200'], { default_authority: 'urn:id:SITE' });
		const merge = set.changes.find((change) => change.kind === 'merge');
		assert.equal(merge?.prior[0]['system'], 'urn:id:SITE');
	});
	const refused: [string, string[], string, RegExp][] = [
		['MRG-1 empty', [pid, 'MRG|'], 'required-field-missing', /^MRG-1 /],
		['MRG-1 ""', [pid, 'MRG|""'], 'required-field-missing', /^MRG-1 /],
		['no MRG', [pid], 'required-field-missing', /^MRG-1 /],
		['no MRG for the first of two PID', [pid, 'PID|2||3', 'MRG|4'], 'required-field-missing', /^MRG-1 /],
		['no MRG for the last of two PID', [pid, 'MRG|4', 'PID|2||3'], 'required-field-missing', /PID\[2\]/],
		['MRG before PID', ['MRG|4', pid], 'segment-sequence', /^MRG /],
		['PID-3 empty', ['PID|1||', 'MRG|4'], 'required-field-missing', /^PID-3 /],
	];
	for (const [name, segments, code, text] of refused) {
		test(`${name} is refused`, () => {
			const failure = failureOf(() => read('ADT^A40', segments));
			assert.equal(failure.code, code);
			assert.match(failure.diagnostics, text);
		});
	}
});

describe('ADT^A37', () => {
	test('names the two patients of its PID segments', () => {
		const set = read('ADT^A37', [pid, 'PV1|1|I', 'PID|2||200^^^HOSP'], { also });
		assert.deepEqual(set.changes, [
			{ kind: 'unlink', first: [{ value: '100', system: 'urn:id:HOSP' }], second: [{ value: '200', system: 'urn:id:HOSP' }] },
		]);
	});
	test('with one PID is refused', () => {
		assert.equal(failureOf(() => read('ADT^A37', [pid], { also })).code, 'segment-sequence');
	});
});

describe('a birth date that cannot be', () => {
	for (const [text, codes] of [
		['00000000', ['unreadable-value']],
		['0000', ['unreadable-value']],
		['20240102', []],
		['20240103', ['future-birth']],
		['2025', ['future-birth']],
	] as const) {
		test(`PID-7 ${text} does not refuse an admission of 2024-01-02`, () => {
			const set = read('ADT^A01', [`PID|1||100||Doe^Jane||${text}`]);
			assert.deepEqual(
				set.flags.map(({ code }) => code),
				codes,
			);
			const [patient] = patients(set);
			assert.equal('birthDate' in (patient?.patch.elements ?? {}), !text.startsWith('0'));
		});
	}
});
