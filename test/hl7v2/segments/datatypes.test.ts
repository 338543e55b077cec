import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { authoritySystem } from '#fhir/mapping/authority.ts';
import { codingSystem } from '#fhir/mapping/coding-system.ts';
import { decimal } from '#fhir/mapping/decimal.ts';
import { toDate, toDateTime, toInstant, toTime, zoneOf } from '#fhir/mapping/timestamp.ts';
import { comparedDecimal } from '#hl7v2/segments/datatypes/nm.ts';
import { fieldsOf, observe, patients, pidPatch, pidWith, read, stated, stored } from '../reading.ts';

describe('HL7 v2 times', () => {
	const dates: [string, string | undefined][] = [
		['1980', '1980'],
		['198005', '1980-05'],
		['19800517', '1980-05-17'],
		['19800517103000', '1980-05-17'],
		['198005171030+0200', '1980-05-17'],
		['20000229', '2000-02-29'],
		['19000229', undefined],
		['20230229', undefined],
		['19801301', undefined],
		['19800500', undefined],
		['00000101', undefined],
		['198', undefined],
		['1980-05-17', undefined],
		['Aug 15, 1942', undefined],
		['1980051', undefined],
	];
	for (const [text, expected] of dates) {
		test(`as a date, ${text} is ${expected ?? 'none'}`, () => assert.equal(toDate(text), expected));
	}
	const times: [string, string | undefined][] = [
		['2024', '2024'],
		['2024010203', '2024-01-02T03:00:00+01:00'],
		['202401020304', '2024-01-02T03:04:00+01:00'],
		['20240102030405', '2024-01-02T03:04:05+01:00'],
		['20240102030405.678', '2024-01-02T03:04:05.678+01:00'],
		['20240102030405-0500', '2024-01-02T03:04:05-05:00'],
		['20240102030405-0000', '2024-01-02T03:04:05+00:00'],
		['20240102+0500', '2024-01-02'],
		['20240102240000', undefined],
		['20240102036000', undefined],
		['2024010203040', undefined],
		['20240102030405+1500', undefined],
		['20240102030405.', undefined],
		['202401020304.5', undefined],
	];
	for (const [text, expected] of times) {
		test(`as a dateTime, ${text} is ${expected ?? 'none'}`, () => assert.equal(toDateTime(text, '+01:00'), expected));
	}
	test('a time of day has minutes and seconds and no offset', () => {
		assert.equal(toTime('0915'), '09:15:00');
		assert.equal(toTime('09'), '09:00:00');
		assert.equal(toTime('091500.25+0100'), '09:15:00.25');
		assert.equal(toTime('2500'), undefined);
	});
	test('an instant needs minutes', () => {
		assert.equal(toInstant('20240102', 'Z'), undefined);
		assert.equal(toInstant('202401020304', 'Z'), '2024-01-02T03:04:00Z');
	});
	test('the offset of a time is read without the time', () => {
		assert.equal(zoneOf('20240102030405+0530'), '+05:30');
		assert.equal(zoneOf('20240102030405'), undefined);
	});
});

describe('HL7 v2 numbers', () => {
	const numbers: [string, string | undefined][] = [
		['1.00', '1.00'],
		['+1.50', '1.50'],
		['.5', '0.5'],
		['5.', '5'],
		['007', '7'],
		['00.10', '0.10'],
		['-0.0', '-0.0'],
		[' 42 ', '42'],
		['123456789012345678', '123456789012345678'],
		['0.00000000000000000000012', '0.00000000000000000000012'],
		['000000000000000000001', '1'],
		['1234567890123456789', undefined],
		['1.000000000000000000', undefined],
		['0', '0'],
		['', undefined],
		['.', undefined],
		['-', undefined],
		['1e5', undefined],
		['1,000', undefined],
		['1.2.3', undefined],
		['<5', undefined],
		['mg/dL', undefined],
	];
	for (const [text, expected] of numbers) {
		test(`as a JSON number, "${text}" is ${expected ?? 'none'}`, () => {
			const value = decimal(text);
			assert.equal(value === undefined ? undefined : JSON.stringify(value), expected);
		});
	}
	test('a comparator before a number is read', () => {
		assert.equal(JSON.stringify(comparedDecimal('<15')), '{"comparator":"<","value":15}');
		assert.equal(JSON.stringify(comparedDecimal('>= 1.50')), '{"comparator":">=","value":1.50}');
		assert.equal(comparedDecimal('< x'), undefined);
	});
});

describe('assigning authorities and coding systems', () => {
	const authorities: [[string, string, string], string][] = [
		[['HOSP', '', ''], 'urn:id:HOSP'],
		[['Main Hospital', '', ''], 'urn:id:Main%20Hospital'],
		[['A/B:C|é#1%', '', ''], 'urn:id:A%2FB%3AC%7C%C3%A9%231%25'],
		[['\ud800', '', ''], 'urn:id:%EF%BF%BD'],
		[[' ', '', ''], ''],
		[['HOSP', '1.2.840.1', 'ISO'], 'urn:oid:1.2.840.1'],
		[['', '1.2.840.1', ''], 'urn:oid:1.2.840.1'],
		[['', '1.02.840', 'ISO'], 'urn:id:1.02.840'],
		[['', '6F9619FF-8B86-D011-B42D-00CF4FC964FF', 'UUID'], 'urn:uuid:6f9619ff-8b86-d011-b42d-00cf4fc964ff'],
		[['', 'http://hosp.example/ids', 'URI'], 'http://hosp.example/ids'],
		[['', 'hosp.example', 'DNS'], 'http://hosp.example'],
		[['', 'ACDE48', 'EUI-64'], 'urn:id:ACDE48'],
		[['', '', ''], ''],
	];
	for (const [[namespace, id, type], expected] of authorities) {
		test(`HD ${namespace}&${id}&${type} is ${expected || 'no system'}`, () => {
			assert.equal(authoritySystem(namespace, id, type), expected);
		});
	}
	const systems: [string, string][] = [
		['LN', 'http://loinc.org'],
		['SCT', 'http://snomed.info/sct'],
		['UCUM', 'http://unitsofmeasure.org'],
		['HL70078', 'http://terminology.hl7.org/CodeSystem/v2-0078'],
		['99LAB', 'urn:id:99LAB'],
		['2.16.840.1.113883.6.1', 'http://loinc.org'],
		['L', ''],
		['', ''],
		['constructor', 'urn:id:constructor'],
	];
	for (const [name, expected] of systems) {
		test(`coding system "${name}" is ${expected || 'none'}`, () => assert.equal(codingSystem(name), expected));
	}
});

describe('XTN', () => {
	const rows: [string, string[]][] = [
		['(555)725-9890^WPN^PH^^1^555^7259890^4', ['(555)725-9890 X4']],
		['(555)725-9890^WPN^PH^^^^^4', ['(555)725-9890 X4']],
		['(555)725-9890 x4^WPN^PH^^1^555^7259890^4', ['(555)725-9890 x4']],
		['(555)725-9890 ext. 4^WPN^PH^^1^555^7259890^x4', ['(555)725-9890 ext. 4']],
		['(555)725-9890x14^WPN^PH^^1^555^7259890^4', ['(555)725-9890x14 X4']],
		['0711 123-045^WPN^PH^^49^0711^123^045', ['0711 123-045']],
		['+49 (0)711 123^WPN^PH^^49^0711^123', ['+49 (0)711 123']],
		['^WPN^PH^^1^303^9999999^12^^^^+1 303 999 9999', ['+1 303 999 9999 X12']],
		['^WPN^PH^^1^303^9999999^12^^^^+1 303 999 9999 X12', ['+1 303 999 9999 X12']],
		['(303)999-9999^WPN^PH^^^^^^^^^+1 303 999 9999', ['+1 303 999 9999']],
		['7275555555:1:^PRN^^x@y.example^1^211^2240784', ['7275555555:1:', 'x@y.example', '+1 211 2240784']],
		['7275555555^PRN^PH^^1^211^2240784^4', ['7275555555', '+1 211 2240784 X4']],
		['725-9890^PRN^PH^^1^555^7259890^4', ['+1 555 7259890 X4']],
		['5557259890^PRN^PH^^1^555^5557259890', ['5557259890']],
		['ask for Jane^PRN^PH^^1^555^7259890', ['ask for Jane', '+1 555 7259890']],
		['a@b.example^NET^Internet^^1^555^7259890', ['a@b.example', '+1 555 7259890']],
		['^NET^Internet^a@b.example^1^555^7259890', ['a@b.example', '+1 555 7259890']],
		['020 1234', ['020 1234']],
		['^PRN^PH', []],
	];
	for (const [value, expected] of rows) {
		test(`${value} is ${expected.join(' and ') || 'nothing'}`, () => {
			const parts = stored(patients(read('ADT^A08', ['PID|1||100', fieldsOf('NK1', { 2: 'Smith^Bob', 5: value })]))[0]?.patch.parts ?? {});
			const [contact] = (parts['contact']?.['NK1'] ?? []) as { telecom?: { value: string }[] }[];
			assert.deepEqual(
				(contact?.telecom ?? []).map((point) => point.value),
				expected,
			);
		});
	}
});

describe('CWE', () => {
	const cwe = 'A^ ^L^ ^ ^ ^ ^ ^ ^ ^ ^';
	test('components of blanks are no display, text, version or coding system', () => {
		const observation = observe({ 2: 'NM', 3: cwe, 5: '1', 6: 'L^ ^UCUM', 8: 'H^ ^ ', 15: cwe });
		assert.deepEqual(observation['code'], { coding: [{ code: 'A' }] });
		assert.deepEqual(observation['valueQuantity'], { value: 1, unit: 'L', system: 'http://unitsofmeasure.org', code: 'L' });
		assert.ok(!/"(?:display|text|version|unit)":"\s*"/.test(JSON.stringify(observation)));
		assert.deepEqual(stated('AL1', { 3: cwe }).change?.patch.elements['code'], { coding: [{ code: 'A' }] });
		assert.deepEqual(stated('DG1', { 3: cwe }).change?.patch.elements['code'], { coding: [{ code: 'A' }] });
		assert.deepEqual(stated('PR1', { 3: cwe }).change?.patch.elements['code'], { coding: [{ code: 'A' }] });
		assert.ok(!/"(?:display|text)":"\s*"/.test(JSON.stringify(pidPatch(pidWith(16, 'M^ ^HL70002')))));
	});
	test('a text beside components of blanks is kept', () => {
		assert.deepEqual(observe({ 3: 'A^ ^L^ ^Alternate^ ' })['code'], { coding: [{ code: 'A' }], text: 'Alternate' });
	});
});
