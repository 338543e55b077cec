import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { JsonObject } from '#core/json.ts';
import { originalText } from '#hl7v2/segments/stated-number.ts';
import { observations, read } from '../reading.ts';

const orderOf = (...segments: string[]) => read('ORU^R01', ['PID|1||100', 'OBR|1|P1|F1|PANEL^Panel^L', ...segments]);

describe('a number and its unit', () => {
	const written = (text: string, value: JsonObject) => ({ extension: [{ url: originalText, valueString: text }], ...value });
	for (const [type, text, unit, expected] of [
		['NM', '5,4 mmol/L', '', { valueQuantity: written('5,4 mmol/L', { value: 5.4, unit: 'mmol/L' }) }],
		['NM', '5,4', 'mmol/L', { valueQuantity: written('5,4', { value: 5.4, unit: 'mmol/L' }) }],
		['NM', '<0,125', 'g/L', { valueQuantity: written('<0,125', { value: 0.125, comparator: '<', unit: 'g/L' }) }],
		['NM', '1.0E3', '/uL', { valueQuantity: written('1.0E3', { value: 1000, unit: '/uL' }) }],
		['NM', '12 mg', 'MG', { valueQuantity: written('12 mg', { value: 12, unit: 'MG' }) }],
		['NM', '12 mg', '', { valueQuantity: written('12 mg', { value: 12, unit: 'mg' }) }],
		['NM', '12%', '', { valueQuantity: written('12%', { value: 12, unit: '%' }) }],
		['NM', '12 mg', 'g', { valueString: '12 mg (g)' }],
		['NM', '12 plus', '', { valueString: '12 plus' }],
		['NM', '1 234', 'mg', { valueString: '1 234 mg' }],
		['NM', '1,234', 'mg', { valueString: '1,234 mg' }],
		['NM', 'abc', 'mg', { valueString: 'abc mg' }],
		['NM', '1.0E999', 'mg', { valueString: '1.0E999 mg' }],
		['SN', '^abc', 'mg', { valueString: 'abc mg' }],
		['ST', '5.4', 'mmol/L', { valueQuantity: written('5.4', { value: 5.4, unit: 'mmol/L' }) }],
		['TX', '> 5', 'mmol/L', { valueQuantity: written('> 5', { value: 5, comparator: '>', unit: 'mmol/L' }) }],
		['ST', 'trace', 'mg/dL', { valueString: 'trace mg/dL' }],
		['ST', '5.4', '', { valueString: '5.4' }],
		['ST', '5.4 mmol/L', '', { valueString: '5.4 mmol/L' }],
		['FT', '5.4', 'mmol/L', { valueString: '5.4 mmol/L' }],
		['SI', '3', 'mm', { valueQuantity: { value: 3, unit: 'mm' } }],
		['', '5.4', 'mmol/L', { valueQuantity: written('5.4', { value: 5.4, unit: 'mmol/L' }) }],
	] as const) {
		test(`${type} "${text}" with the unit "${unit}" keeps both`, () => {
			const [change] = observations(orderOf(`OBX|1|${type}|K^K^L||${text}|${unit}|||||F`));
			const { valueQuantity, valueString } = JSON.parse(JSON.stringify(change?.resource)) as JsonObject;
			assert.deepEqual({ ...(valueQuantity && { valueQuantity }), ...(valueString && { valueString }) }, expected);
		});
	}
	test('a number in a text keeps its digits, and its reference range has bounds', () => {
		const [change] = observations(orderOf('OBX|1|ST|K^K^L||5.40|mmol/L|3-6||||F'));
		const text = JSON.stringify(change?.resource);
		assert.match(text, /"value":5\.40,"unit":"mmol\/L"/);
		assert.match(text, /"low":\{"value":3,"unit":"mmol\/L"\}/);
	});
});
