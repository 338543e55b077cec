import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { fieldsOf, patients, read, stored } from '../reading.ts';

function partsOf(values: Record<number, string>, pid = 'PID|1||100') {
	const [patient] = patients(read('ADT^A08', [pid, fieldsOf('PD1', values)]));
	return stored(patient?.patch.parts ?? {});
}

const extension = (name: string) => `http://hl7.org/fhir/StructureDefinition/${name}`;

describe('PD1 fields', () => {
	test('PD1-3 and PD1-4 are general practitioners, each a share of the list', () => {
		assert.deepEqual(partsOf({ 3: 'Family Practice^^12345~North', 4: '271^Simon^David^^^^^^NPI' })['generalPractitioner'], {
			'PD1-3': [
				{ id: 'PD1-3.1', type: 'Organization', identifier: { value: '12345' }, display: 'Family Practice' },
				{ id: 'PD1-3.2', type: 'Organization', display: 'North' },
			],
			'PD1-4': [{ id: 'PD1-4.1', type: 'Practitioner', identifier: { system: 'urn:id:NPI', value: '271' }, display: 'David Simon' }],
		});
	});
	test('one of them alone leaves the other; `""` removes its own', () => {
		assert.deepEqual(partsOf({ 4: '""' })['generalPractitioner'], { 'PD1-4': null });
	});
	test('PD1-6 and PD1-14 are extensions beside those of PID', () => {
		const parts = partsOf({ 6: 'W^Wheelchair^L', 14: 'St Mary' }, 'PID|1||100||||||||||||||CAT')['extension'];
		assert.deepEqual(Object.keys(parts ?? {}).sort(), [
			extension('patient-congregation'),
			extension('patient-disability'),
			extension('patient-religion'),
		]);
		assert.deepEqual(parts?.[extension('patient-congregation')], [{ url: extension('patient-congregation'), valueString: 'St Mary' }]);
		assert.deepEqual(partsOf({ 6: '""', 14: '""' })['extension'], {
			[extension('patient-disability')]: null,
			[extension('patient-congregation')]: null,
		});
	});
	test('a PD1 that speaks of none of it says nothing', () => {
		assert.deepEqual(Object.keys(partsOf({ 2: 'A', 11: 'Y', 12: 'N', 3: ' ', 4: '^^^' })), ['identifier']);
	});
});
