import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { encounters, fieldsOf, read, stored } from '../reading.ts';

function visit(values: Record<number, string>, type = 'ADT^A01', pid = 'PID|1||100') {
	const set = read(type, [pid, fieldsOf('PV1', values)], { also: ['A02', 'A03', 'A11', 'A13'] });
	return { change: stored(encounters(set))[0], flags: set.flags.map(({ code }) => code) };
}

const actCode = 'http://terminology.hl7.org/CodeSystem/v3-ActCode';
const table = (number: string) => `http://terminology.hl7.org/CodeSystem/v2-${number}`;

describe('PV1 fields', () => {
	const rows: { name: string; values: Record<number, string>; element: string; expected: unknown }[] = [
		{ name: 'PV1-2 I', values: { 2: 'I' }, element: 'class', expected: { system: actCode, code: 'IMP', display: 'inpatient encounter' } },
		{ name: 'PV1-2 E', values: { 2: 'E' }, element: 'class', expected: { system: actCode, code: 'EMER', display: 'emergency' } },
		{ name: 'PV1-2 O', values: { 2: 'O' }, element: 'class', expected: { system: actCode, code: 'AMB', display: 'ambulatory' } },
		{ name: 'PV1-2 P', values: { 2: 'P' }, element: 'class', expected: { system: actCode, code: 'PRENC', display: 'pre-admission' } },
		{ name: 'PV1-2 R', values: { 2: 'R' }, element: 'class', expected: { system: table('0004'), code: 'R' } },
		{
			name: 'PV1-3 and PV1-6',
			values: { 3: 'W1^R2^B3^HOSP^^^Main^4', 6: 'ER' },
			element: 'location',
			expected: [
				{ location: { type: 'Location', display: 'W1, R2, B3, HOSP, Main, 4' }, status: 'active' },
				{ location: { type: 'Location', display: 'ER' }, status: 'completed' },
			],
		},
		{ name: 'PV1-4', values: { 4: 'E' }, element: 'type', expected: [{ coding: [{ system: table('0007'), code: 'E' }] }] },
		{ name: 'PV1-10', values: { 10: 'CAR' }, element: 'serviceType', expected: { coding: [{ system: table('0069'), code: 'CAR' }] } },
		{
			name: 'PV1-14',
			values: { 14: '1' },
			element: 'hospitalization.admitSource',
			expected: { coding: [{ system: table('0023'), code: '1' }] },
		},
		{
			name: 'PV1-36',
			values: { 36: '01' },
			element: 'hospitalization.dischargeDisposition',
			expected: { coding: [{ system: table('0112'), code: '01' }] },
		},
		{ name: 'PV1-44', values: { 44: '20240101' }, element: 'period.start', expected: '2024-01-01' },
		{ name: 'PV1-45', values: { 45: '202401020304' }, element: 'period.end', expected: '2024-01-02T03:04:00+01:00' },
		{ name: '"" in PV1-45', values: { 45: '""' }, element: 'period.end', expected: null },
	];
	for (const { name, values, element, expected } of rows) {
		test(`${name} is Encounter.${element}`, () => {
			assert.deepEqual(visit({ 19: 'V1', ...values }).change?.patch.elements[element], expected);
		});
	}
	test('PV1-7, 8, 9 and 17 are participants by role', () => {
		const { change } = visit({ 7: 'D1^Who^Doc^^^Dr^^^HOSP~D2^Second', 8: '""', 9: '^Cee', 17: '^^', 19: 'V1' });
		const participant = change?.patch.parts['participant'];
		assert.deepEqual(Object.keys(participant ?? {}), ['ATND', 'REF', 'CON']);
		assert.equal(participant?.['REF'], null);
		assert.deepEqual(participant?.['ATND']?.[0], {
			type: [{ coding: [{ system: 'http://terminology.hl7.org/CodeSystem/v3-ParticipationType', code: 'ATND', display: 'attender' }] }],
			individual: { type: 'Practitioner', identifier: { system: 'urn:id:HOSP', value: 'D1' }, display: 'Dr Doc Who' },
		});
		assert.equal(participant?.['ATND']?.length, 2);
	});
	test('PV1-19 is an identifier of type VN, PV1-50 a further one', () => {
		const identifiers = visit({ 19: 'V1^^^ADT', 50: 'A9' }).change?.patch.elements['identifier'] as { value: string; type?: unknown }[];
		assert.deepEqual(
			identifiers.map(({ value }) => value),
			['V1', 'A9'],
		);
		assert.deepEqual(identifiers[0]?.type, { coding: [{ system: table('0203'), code: 'VN', display: 'Visit number' }] });
	});
});

describe('what a visit is known by', () => {
	test('PV1-19, with its authority', () => {
		assert.deepEqual(visit({ 19: 'V1^^^ADT', 50: 'A9' }).change?.visit, { system: 'urn:id:ADT', value: 'V1' });
	});
	test('PV1-50 where there is no PV1-19', () => {
		assert.deepEqual(visit({ 50: 'A9' }).change?.visit, { value: 'A9' });
	});
	test('the account of PID-18 where PV1 has no number', () => {
		const { change } = visit({ 2: 'I' }, 'ADT^A01', fieldsOf('PID', { 3: '1', 18: 'ACC^^^FIN' }));
		assert.deepEqual(change?.visit, { system: 'PID-18 urn:id:FIN', value: 'ACC' });
		const unnamed = visit({ 2: 'I' }, 'ADT^A01', fieldsOf('PID', { 3: '1', 18: 'ACC' }));
		assert.deepEqual(unnamed.change?.visit, { system: 'PID-18 ', value: 'ACC' });
	});
	test('the time of admission where there is no number at all', () => {
		assert.deepEqual(visit({ 2: 'I', 44: '20240101' }).change?.visit, { system: 'PV1-44 ', value: '2024-01-01' });
	});
	test('nothing: no Encounter is written, and the message says so', () => {
		const { change, flags } = visit({ 2: 'O' }, 'ADT^A08');
		assert.equal(change, undefined);
		assert.deepEqual(flags, ['segment-skipped']);
	});
	test('nothing, in an event about the visit: the open visit of the patient is meant', () => {
		const { change, flags } = visit({ 2: 'O' });
		assert.deepEqual([change?.visit, change?.act, change?.at], [undefined, 'admit', '2024-01-02T03:04:05+01:00']);
		assert.deepEqual(flags, []);
	});
});

describe('the status of a visit', () => {
	const rows: [string, Record<number, string>, unknown, string][] = [
		['ADT^A01', {}, 'in-progress', 'create'],
		['ADT^A01', { 2: 'P' }, 'planned', 'create'],
		['ADT^A01', { 45: '20240101' }, 'finished', 'create'],
		['ADT^A04', {}, 'in-progress', 'create'],
		['ADT^A08', {}, undefined, 'create'],
		['ADT^A08', { 45: '20240101' }, 'finished', 'create'],
		['ADT^A02', {}, 'in-progress', 'create'],
		['ADT^A03', {}, 'finished', 'create'],
		['ADT^A11', {}, 'cancelled', 'flag'],
		['ADT^A11', { 45: '20240101' }, 'cancelled', 'flag'],
		['ADT^A13', { 45: '20240101' }, 'in-progress', 'flag'],
	];
	for (const [type, values, expected, unknown] of rows) {
		test(`${type} with PV1 ${JSON.stringify(values)} makes it ${expected ?? 'stay as it is'}`, () => {
			const { change } = visit({ 19: 'V1', ...values }, type);
			assert.equal(change?.patch.elements['status'], expected);
			assert.equal(change?.unknown, unknown);
		});
	}
	const ends: [string, string, Record<number, string>, unknown][] = [
		['EVN-6', 'EVN||20240105||||202401042200', {}, '2024-01-04T22:00:00+01:00'],
		['EVN-2 where there is no EVN-6', 'EVN||202401051000', {}, '2024-01-05T10:00:00+01:00'],
		['EVN-2 where EVN-6 is no time', 'EVN||20240105||||soon', {}, '2024-01-05'],
		['PV1-45 where it is valued', 'EVN||20240105', { 45: '20240104' }, '2024-01-04'],
		['removed where PV1-45 is ""', 'EVN||20240105', { 45: '""' }, null],
		['unsaid where nothing says it', 'EVN|A03', {}, undefined],
	];
	for (const [name, evn, values, expected] of ends) {
		test(`the end of a visit by ADT^A03 is ${name}`, () => {
			const pv1 = fieldsOf('PV1', { 19: 'V1', ...values });
			const [change] = encounters(read('ADT^A03', [evn, 'PID|1||100', pv1], { also: ['A03'] }));
			assert.equal(change?.patch.elements['period.end'], expected);
		});
	}
	for (const type of ['ADT^A01', 'ADT^A02', 'ADT^A08', 'ADT^A11']) {
		test(`the time of an ${type} is not the end of the visit`, () => {
			const set = read(type, ['EVN||20240105', 'PID|1||100', fieldsOf('PV1', { 19: 'V1' })], { also: ['A02', 'A11'] });
			assert.equal(encounters(set)[0]?.patch.elements['period.end'], undefined);
		});
	}
	test('ADT^A13 takes the discharge disposition back', () => {
		assert.equal(visit({ 19: 'V1', 36: '01' }, 'ADT^A13').change?.patch.elements['hospitalization.dischargeDisposition'], null);
	});
	test('ADT^A13 takes the end of the visit back', () => {
		assert.equal(visit({ 19: 'V1', 45: '20240101' }, 'ADT^A13').change?.patch.elements['period.end'], null);
	});
	const initial: [string, Record<number, string>, string][] = [
		['ADT^A08', { 2: 'I' }, 'in-progress'],
		['ADT^A08', {}, 'in-progress'],
		['ADT^A08', { 2: 'P' }, 'planned'],
		['ADT^A08', { 2: 'I', 45: '20240101' }, 'finished'],
		['ORU^R01', { 2: 'I' }, 'unknown'],
		['ORU^R01', { 2: 'I', 45: '20240101' }, 'finished'],
	];
	for (const [type, values, status] of initial) {
		test(`a visit that an ${type} with PV1 ${JSON.stringify(values)} creates starts as ${status}`, () => {
			assert.equal(visit({ 19: 'V1', ...values }, type).change?.initial?.elements['status'], status);
		});
	}
});
