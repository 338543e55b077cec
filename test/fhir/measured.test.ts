import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { parseExact } from '#core/json.ts';
import { measuredValues } from '#fhir/measured.ts';
import { observations, read } from '../hl7v2/reading.ts';

/** OBX-2, 5, 6, 7 and 8, and what a list shows beside the value. */
const rows: [what: string, obx: string, flag: string | null, derived: string | null, bounds?: [string | null, string | null]][] = [
	['a value in its range', 'NM||13.20|g/dL|12.0-15.5|', null, null, ['12.0', '15.5']],
	['a value at the lower end', 'NM||12|g/dL|12.0-15.5|', null, null],
	['a value at the upper end', 'NM||15.50|g/dL|12.0-15.5|', null, null],
	['a value below', 'NM||11.9|g/dL|12.0-15.5|', null, 'low'],
	['a value above without a flag', 'NM||14.5|mg/L|0-5|', null, 'high'],
	['a value above that its sender calls normal', 'NM||14.5|mg/L|0-5|N', 'normal', 'high'],
	['a value above that its sender calls so', 'NM||14.5|mg/L|0-5|H', 'high', 'high'],
	['a flag without a range', 'NM||14.5|mg/L||HH', 'high', null, [null, null]],
	['a flag that says abnormal', 'NM||14.5|mg/L|0-20|A', 'abnormal', null],
	['a flag of the laboratory alone', 'NM||14.5|mg/L|0-20|XYZ', null, null],
	['several flags', 'NM||14.5|mg/L|0-20|N~H', 'high', null],
	['a range that is open below', 'NM||6|mg/L|<=5|', null, 'high', [null, '5']],
	['a range that is open above', 'NM||0.9|mg/L|>=1|', null, 'low', ['1', null]],
	['an end that is not in the range', 'NM||5|mg/L|<5|', null, 'high', [null, '5']],
	['a value below an end that is not in the range', 'NM||4.99|mg/L|< 5|', null, null],
	['a lower end that is not in the range', 'NM||1.0|mg/L|>1|', null, 'low', ['1', null]],
	['a range in words', 'NM||99|mg/L|negative|', null, null, [null, null]],
	['a range with words', 'NM||99|mg/L|adults 0-5|', null, null, [null, null]],
	['a range for either sex', 'NM||99|mg/L|m: 1-2 f: 2-3|', null, null, [null, null]],
	['a range the wrong way round', 'NM||99|mg/L|5-1|', null, null, [null, null]],
	['less than the lower end', 'NM||<5|mg/L|5-10|', null, 'low'],
	['less than a number in the range', 'NM||<7|mg/L|5-10|', null, null],
	['less than a number above the range', 'NM||<20|mg/L|5-10|', null, null],
	['less than the upper end of a range that is open below', 'SN||<^5|mg/L|<5|', null, null],
	['at most the lower end', 'SN||<=^5|mg/L|5-10|', null, null],
	['at most a number below the range', 'SN||<=^4|mg/L|5-10|', null, 'low'],
	['at most a lower end that is not in the range', 'SN||<=^5|mg/L|>5|', null, 'low'],
	['more than the upper end', 'SN||>^10|mg/L|5-10|', null, 'high'],
	['more than a number in the range', 'SN||>^7|mg/L|5-10|', null, null],
	['at least the upper end', 'SN||>=^10|mg/L|5-10|', null, null],
	['at least a number above the range', 'SN||>=^11|mg/L|5-10|', null, 'high'],
	['a negative value', 'NM||-3.1|mmol/L|-2.0-2.0|', null, 'low', ['-2.0', '2.0']],
	['a text', 'ST||positive||negative|POS', 'abnormal', null],
	['a text that begins with a number', 'ST||99 cells seen||0-5|', null, null],
];

describe('a value beside its reference range', () => {
	for (const [what, obx, flag, derived, bounds] of rows) {
		test(what, () => {
			const [type, , value, unit, range, stated] = obx.split('|');
			const segments = ['PID|1||100', 'OBR|1|P1|F1|P^P^L', `OBX|1|${type}|C^Code^L||${value}|${unit}|${range}|${stated}|||F`];
			const [change] = observations(read('ORU^R01', segments));
			const [found] = measuredValues(parseExact(JSON.stringify(change?.resource)));
			assert.deepEqual([found?.flag, found?.derived], [flag, derived]);
			if (bounds !== undefined) assert.deepEqual([found?.low, found?.high], bounds);
			assert.equal(found?.range, range);
		});
	}

	const range = (low: object | undefined, high: object | undefined, further: object = {}) => ({ low, high, ...further });
	const mg = { unit: 'mg/dL', system: 'http://unitsofmeasure.org', code: 'mg/dL' };
	const stated = (...referenceRange: object[]) => ({ status: 'final', valueQuantity: { value: 190, ...mg }, referenceRange });
	const fromClients: [string, object, string | null][] = [
		['with the unit of the value', stated(range({ value: 70, ...mg }, { value: 140, ...mg })), 'high'],
		['without a unit', stated(range({ value: 70 }, { value: 140 })), 'high'],
		['in another unit', stated(range({ value: 4, unit: 'mmol/L' }, { value: 7.8, unit: 'mmol/L' })), null],
		['with one end in another unit', stated(range({ value: 70, ...mg }, { value: 7.8, unit: 'mmol/L' })), null],
		['for an age', stated(range({ value: 70 }, { value: 140 }, { age: { low: { value: 18 } } })), null],
		['for a group of people', stated(range({ value: 70 }, { value: 140 }, { appliesTo: [{ text: 'pregnant' }] })), null],
		['of which there are two', stated(range({ value: 70 }, { value: 140 }), range({ value: 60 }, { value: 200 })), null],
		[
			'beside one for treatment',
			stated(range({ value: 70 }, { value: 140 }), range({ value: 1 }, { value: 9 }, { type: { coding: [{ code: 'therapeutic' }] } })),
			'high',
		],
		['of a value that was entered in error', { ...stated(range(undefined, { value: 140 })), status: 'entered-in-error' }, null],
	];
	for (const [what, resource, derived] of fromClients) {
		test(`a range ${what}`, () => assert.equal(measuredValues(parseExact(JSON.stringify(resource)))[0]?.derived, derived));
	}

	test('keeps digits, and a component is a value of its own', () => {
		const part = (code: string, value: string, high: string) =>
			`{"code":{"text":"${code}"},"valueQuantity":{"value":${value},"unit":"mmHg"},"referenceRange":[{"high":{"value":${high}}}]}`;
		const pressure = `{"status":"final","code":{"text":"Blood pressure"},"component":[${part('systolic', '150.0', '140')},${part('diastolic', '80.00', '90')}]}`;
		assert.deepEqual(
			measuredValues(parseExact(pressure)).map(({ text, digits, unit, derived }) => [text, digits, unit, derived]),
			[
				['Blood pressure: systolic', '150.0', 'mmHg', 'high'],
				['Blood pressure: diastolic', '80.00', 'mmHg', null],
			],
		);
	});
});
