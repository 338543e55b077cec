import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { items, patients, read } from '../reading.ts';

const also = ['A02', 'A03', 'A11', 'A13', 'A28', 'A31'];
const pid = 'PID|1||100^^^HOSP';
const pv1 = 'PV1|1|I|W1||||||||||||||||V1';
const stated = ['AL1|1|DA|PCN^Penicillin^L', 'DG1|1||E11^Diabetes^I10', 'PR1|1||45380^^C4||20240101'];
const types = ['AllergyIntolerance', 'Condition', 'Procedure'];

describe('what ADT events say beside PID and PV1', () => {
	for (const type of ['ADT^A01', 'ADT^A04', 'ADT^A08', 'ADT^A02', 'ADT^A03', 'ADT^A11', 'ADT^A13']) {
		test(`${type}: AL1, DG1 and PR1 are of its patient, diagnoses and procedures of its visit`, () => {
			const set = read(type, [pid, pv1, ...stated], { also });
			assert.deepEqual(
				set.changes.map(({ kind }) => kind),
				['patient', 'encounter', 'item', 'item', 'item'],
			);
			assert.deepEqual(
				items(set).map(({ resourceType, patient, encounter }) => [resourceType, patient, encounter]),
				[
					[types[0], 0, undefined],
					[types[1], 0, 0],
					[types[2], 0, 0],
				],
			);
		});
	}
	for (const type of ['ADT^A28', 'ADT^A31']) {
		test(`${type}: the same, of no visit`, () => {
			const set = read(type, [pid, pv1, ...stated], { also });
			assert.deepEqual(
				items(set).map(({ resourceType, encounter }) => [resourceType, encounter]),
				types.map((name) => [name, undefined]),
			);
		});
	}
	test('the order of the segments does not matter', () => {
		const usual = read('ADT^A08', [pid, 'PD1|||North', 'NK1|1|Smith^Bob', pv1, ...stated]);
		const mixed = read('ADT^A08', [...stated, 'NK1|1|Smith^Bob', pv1, pid, 'PD1|||North']);
		assert.deepEqual(JSON.stringify(mixed), JSON.stringify(usual));
	});
	test('what stands behind a second PID is not the first one’s', () => {
		const further = ['PID|2||200', 'PD1|||South', 'NK1|1|Other', 'AL1|1|DA|X^^L', 'DG1|1||X^^I10', 'PR1|1||X^^C4'];
		const set = read('ADT^A08', [pid, 'AL1|1|DA|PCN^^L', ...further]);
		assert.deepEqual(
			items(set).map(({ item }) => item),
			['code |PCN'],
		);
		assert.deepEqual(Object.keys(patients(set)[0]?.patch.parts ?? {}), ['identifier']);
	});
	test('a bad segment refuses nothing, and its text is in no flag', () => {
		const set = read('ADT^A08', [
			pid,
			'AL1|1|SECRET|SECRET|SECRET||SECRET',
			'DG1|1|||SECRET|SECRET|SECRET',
			'PR1|1||||SECRET',
			'NK1|1||SECRET|||||SECRET',
		]);
		assert.ok(set.flags.length >= 6);
		assert.doesNotMatch(JSON.stringify(set.flags), /SECRET/);
	});
	test('a thousand segments of one thing are one change', () => {
		const set = read('ADT^A08', [pid, ...Array.from({ length: 1000 }, (_, at) => `AL1|${at}|DA|PCN^^L||R${at % 7}`)]);
		const [change, ...others] = items(set);
		assert.deepEqual(others, []);
		const reactions = change?.patch.elements['reaction'];
		assert.ok(Array.isArray(reactions) && reactions.length === 7);
	});
});

describe('what an ORU says beside the results', () => {
	const results = ['OBR|1||F1', 'OBX|1|NM|K^K^L||1||||||F'];
	test('AL1, DG1 and PR1 are of the patient, wherever they stand behind the PID', () => {
		for (const segments of [
			[pid, ...stated, pv1, ...results],
			[pid, pv1, ...results, ...stated],
		]) {
			const set = read('ORU^R01', segments);
			assert.deepEqual(
				items(set).map(({ resourceType, patient, encounter }) => [resourceType, patient, encounter === undefined]),
				[
					[types[0], 0, true],
					[types[1], 0, false],
					[types[2], 0, false],
				],
			);
		}
	});
	test('each patient has its own', () => {
		const set = read('ORU^R01', [pid, 'NK1|1|One', 'AL1|1|DA|A^^L', ...results, 'PID|2||200', 'AL1|1|DA|B^^L', ...results]);
		const [first, second] = patients(set);
		assert.deepEqual(
			items(set).map(({ patient, item }) => [patient, item]),
			[
				[first?.ref, 'code |A'],
				[second?.ref, 'code |B'],
			],
		);
		assert.ok(first?.patch.parts['contact']);
		assert.equal(second?.patch.parts['contact'], undefined);
	});
	test('before any PID they are left out and flagged', () => {
		const set = read('ORU^R01', ['DG1|1||E11^^I10', 'NK1|1|One', pid, ...results]);
		assert.deepEqual(items(set), []);
		assert.deepEqual(
			set.flags.map(({ text }) => text),
			['DG1 was left out: it stands before any PID', 'NK1 was left out: it stands before any PID'],
		);
	});
});

describe('an ADT^A40', () => {
	test('is about identifiers: the other segments are not read', () => {
		const set = read('ADT^A40', [pid, 'PD1|||North', 'MRG|200', 'AL1|1|DA|PCN^^L']);
		assert.deepEqual(
			set.changes.map(({ kind }) => kind),
			['patient', 'merge'],
		);
		assert.deepEqual(Object.keys(patients(set)[0]?.patch.parts ?? {}), ['identifier']);
	});
});
