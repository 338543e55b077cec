import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { failureOf, fieldsOf, observations, observe, read } from '../reading.ts';

const orderOf = (...segments: string[]) => read('ORU^R01', ['PID|1||100', 'OBR|1|P1|F1|PANEL^Panel^L', ...segments]);
const table = (number: string) => `http://terminology.hl7.org/CodeSystem/v2-${number}`;
const attachmentUrl = 'http://hl7.org/fhir/5.0/StructureDefinition/extension-Observation.value';

const potassium = { coding: [{ code: 'K', display: 'Potassium' }], text: 'Potassium' };

describe('OBX-5 by OBX-2', () => {
	const rows: { type: string; value: string; unit?: string; expected: Record<string, unknown> }[] = [
		{ type: 'NM', value: '4.10', unit: 'mmol/L', expected: { valueQuantity: { value: 4.1, unit: 'mmol/L' } } },
		{
			type: 'NM',
			value: '4.1',
			unit: 'mmol/L^millimole per litre^UCUM',
			expected: {
				valueQuantity: { value: 4.1, unit: 'millimole per litre', system: 'http://unitsofmeasure.org', code: 'mmol/L' },
			},
		},
		{
			type: 'NM',
			value: '4',
			unit: 'mmol/L^millimole per litre^99LAB',
			expected: { valueQuantity: { value: 4, unit: 'millimole per litre' } },
		},
		{ type: 'NM', value: '4', unit: '266016^^MDC', expected: { valueQuantity: { value: 4, unit: '266016' } } },
		{
			type: 'NM',
			value: '4',
			unit: 'mM^millimolar^99LAB^mmol/L^^UCUM',
			expected: { valueQuantity: { value: 4, unit: 'millimolar', system: 'http://unitsofmeasure.org', code: 'mmol/L' } },
		},
		{ type: 'NM', value: '<15', expected: { valueQuantity: { value: 15, comparator: '<' } } },
		{
			type: 'NM',
			value: '1~2',
			unit: 'g',
			expected: {
				component: [
					{ code: potassium, valueQuantity: { value: 1, unit: 'g' } },
					{ code: potassium, valueQuantity: { value: 2, unit: 'g' } },
				],
			},
		},
		{ type: 'SN', value: '>^100', unit: 'g', expected: { valueQuantity: { value: 100, comparator: '>', unit: 'g' } } },
		{ type: 'SN', value: '^100', expected: { valueQuantity: { value: 100 } } },
		{ type: 'SN', value: '=^100', expected: { valueQuantity: { value: 100 } } },
		{
			type: 'SN',
			value: '^100^-^200',
			unit: 'g',
			expected: { valueRange: { low: { value: 100, unit: 'g' }, high: { value: 200, unit: 'g' } } },
		},
		{ type: 'SN', value: '^1^:^128', expected: { valueRatio: { numerator: { value: 1 }, denominator: { value: 128 } } } },
		{
			type: 'SN',
			value: '<^1^/^2',
			expected: { valueRatio: { numerator: { value: 1, comparator: '<' }, denominator: { value: 2 } } },
		},
		{ type: 'SN', value: '^2^+', expected: { valueString: '2+' } },
		{ type: 'ST', value: 'clear \\T\\ pale', expected: { valueString: 'clear & pale' } },
		{ type: 'ST', value: 'a^b', expected: { valueString: 'a^b' } },
		{ type: 'TX', value: 'one~two', expected: { valueString: 'one\ntwo' } },
		{ type: 'FT', value: 'one\\.br\\two', expected: { valueString: 'one\ntwo' } },
		{
			type: 'CE',
			value: 'A^Alpha^LN^1^Uno^99L',
			expected: {
				valueCodeableConcept: {
					coding: [
						{ system: 'http://loinc.org', code: 'A', display: 'Alpha' },
						{ system: 'urn:id:99L', code: '1', display: 'Uno' },
					],
					text: 'Alpha',
				},
			},
		},
		{
			type: 'CWE',
			value: 'A^Alpha^SCT^^^^2020^^as written',
			expected: {
				valueCodeableConcept: {
					coding: [{ system: 'http://snomed.info/sct', version: '2020', code: 'A', display: 'Alpha' }],
					text: 'as written',
				},
			},
		},
		{ type: 'CWE', value: '^words only', expected: { valueCodeableConcept: { text: 'words only' } } },
		{ type: 'CNE', value: 'Y', expected: { valueCodeableConcept: { coding: [{ code: 'Y' }] } } },
		{ type: 'CF', value: 'Y^Yes', expected: { valueCodeableConcept: { coding: [{ code: 'Y', display: 'Yes' }], text: 'Yes' } } },
		{ type: 'IS', value: 'Y', expected: { valueCodeableConcept: { coding: [{ code: 'Y' }] } } },
		{ type: 'DT', value: '20240102', expected: { valueDateTime: '2024-01-02' } },
		{ type: 'TM', value: '1530', expected: { valueTime: '15:30:00' } },
		{ type: 'TS', value: '202401021530', expected: { valueDateTime: '2024-01-02T15:30:00+01:00' } },
		{ type: 'DTM', value: '2024', expected: { valueDateTime: '2024' } },
		{ type: 'DR', value: '20240101^20240102', expected: { valuePeriod: { start: '2024-01-01', end: '2024-01-02' } } },
		{ type: 'NR', value: '1^2', expected: { valueRange: { low: { value: 1 }, high: { value: 2 } } } },
		{ type: 'DR', value: '20240102^20240101', expected: { valueString: '20240102 20240101' } },
		{ type: 'NR', value: '10^9', expected: { valueString: '10 9' } },
		{ type: 'CQ', value: '5^ml', expected: { valueQuantity: { value: 5, unit: 'ml' } } },
		{
			type: 'CQ',
			value: '5^mL&millilitre&UCUM',
			unit: 'g',
			expected: { valueQuantity: { value: 5, unit: 'millilitre', system: 'http://unitsofmeasure.org', code: 'mL' } },
		},
		{ type: 'CQ', value: '5', unit: 'g', expected: { valueQuantity: { value: 5, unit: 'g' } } },
		{ type: 'SI', value: '3', expected: { valueInteger: 3 } },
		{
			type: 'NA',
			value: '12^-3.50^^7',
			unit: 'mV',
			expected: {
				valueSampledData: {
					origin: { value: 0, unit: 'mV' },
					_period: { extension: [{ url: 'http://hl7.org/fhir/StructureDefinition/data-absent-reason', valueCode: 'unknown' }] },
					dimensions: 1,
					data: '12 -3.50 E 7',
				},
			},
		},
		{ type: 'CX', value: '123^^^HOSP&1.2.3&ISO^MR', expected: { valueString: '123 HOSP 1.2.3 ISO MR' } },
		{ type: 'XPN', value: 'Doe^Jane', expected: { valueString: 'Doe Jane' } },
		{
			type: 'ED',
			value: '^AP^PDF^Base64^JVBERi0=',
			expected: { extension: [{ url: attachmentUrl, valueAttachment: { contentType: 'application/pdf', data: 'JVBERi0=' } }] },
		},
		{
			type: 'ED',
			value: '^TEXT^plain^A^hello',
			expected: { extension: [{ url: attachmentUrl, valueAttachment: { contentType: 'text/plain', data: 'aGVsbG8=' } }] },
		},
		{
			type: 'ED',
			value: '^AP^Octet-stream^Hex^00FF',
			expected: {
				extension: [{ url: attachmentUrl, valueAttachment: { contentType: 'application/octet-stream', data: 'AP8=' } }],
			},
		},
		{
			type: 'ED',
			value: '^^NM^^hello',
			expected: {
				extension: [{ url: attachmentUrl, valueAttachment: { contentType: 'application/octet-stream', data: 'aGVsbG8=' } }],
			},
		},
		...['PDF^Base64^JVBERi0=', '^PDF^Base64^JVBERi0=', '^AP^PDF^base64^JVBERi0=', 'JVBERi0='].map((value) => ({
			type: 'ED',
			value,
			expected: { extension: [{ url: attachmentUrl, valueAttachment: { contentType: 'application/pdf', data: 'JVBERi0=' } }] },
		})),
		{ type: 'ED', value: 'No finding.', expected: { valueString: 'No finding.' } },
		{
			type: 'RP',
			value: 'https://x.example/a b^^AP^PDF',
			expected: {
				extension: [{ url: attachmentUrl, valueAttachment: { contentType: 'application/pdf', url: 'https://x.example/a%20b' } }],
			},
		},
	];
	const valueElements = /^(?:value|component$|extension$)/;
	for (const { type, value, unit, expected } of rows) {
		test(`${type} ${value} is ${Object.keys(expected).join()}`, () => {
			const resource = observe({ 2: type, 5: value, ...(unit === undefined ? {} : { 6: unit }) });
			const values = Object.fromEntries(Object.entries(resource).filter(([name]) => valueElements.test(name)));
			assert.deepEqual(values, expected);
		});
	}
	test('every component has a code, in the order of the repetitions, attachments too', () => {
		const resource = observe({ 2: 'ED', 5: '^AP^PDF^Base64^JVBERi0=~^TEXT^plain^A^hello' });
		const components = resource['component'] as { code: unknown; extension: { valueAttachment: { contentType: string } }[] }[];
		assert.deepEqual(
			components.map(({ code, extension }) => [code, extension[0]?.valueAttachment.contentType]),
			[
				[potassium, 'application/pdf'],
				[potassium, 'text/plain'],
			],
		);
	});
	test('a decimal keeps its digits as it is stored', () => {
		const [change] = observations(orderOf('OBX|1|NM|K^K^L||1.00|mmol/L|0.50-2.50|||F'.replace('|||F', '||||F')));
		const text = JSON.stringify(change?.resource);
		assert.match(text, /"value":1\.00,/);
		assert.match(text, /"low":\{"value":0\.50,/);
	});
	for (const value of ['abc', '1,000', '1.2.3', '1234567890123456789', '<0.1234567890123456789']) {
		test(`NM "${value}" is kept as text and flagged`, () => {
			const set = orderOf(`OBX|1|NM|K^K^L||${value}||||||F`);
			assert.equal(observations(set)[0]?.resource['valueString'], value);
			assert.deepEqual(set.flags, [{ code: 'unreadable-value', text: 'OBX-5 is not of the type NM that OBX-2 names; read as text' }]);
		});
	}
	test('an empty OBX-2 with a value is read as text and flagged', () => {
		const set = orderOf('OBX|1||K^K^L||5~6||||||F');
		assert.equal(observations(set)[0]?.resource['valueString'], '5\n6');
		assert.deepEqual(
			set.flags.map(({ code }) => code),
			['empty-value-type'],
		);
	});
	test('an empty OBX-2 without a value, and a type without a value, give an Observation without value', () => {
		const set = orderOf('OBX|1||K^K^L||||||||F', 'OBX|2|NM|N^N^L||""||||||F', 'OBX|3|CE|M^M^L||^^||||||F', 'OBX|4|TX|O^O^L||~||||||F');
		assert.equal(observations(set).length, 4);
		for (const { resource } of observations(set)) assert.deepEqual(Object.keys(resource), ['status', 'basedOn', 'code']);
		assert.deepEqual(set.flags, []);
	});
});

describe('OBX that refuse the whole message', () => {
	test('an OBX-2 that is not supported, by segment and type', () => {
		const failure = failureOf(() => orderOf('OBX|1|NM|K^K^L||1||||||F', 'OBX|2|MA|L^L^L||1||||||F'));
		assert.equal(failure.code, 'table-value');
		assert.match(failure.diagnostics, /^OBX-2 .*"MA".*OBX\[2\]/);
		assert.deepEqual(failure.location, { segment: 'OBX', sequence: 2, field: 2 });
	});
	test('an OBX-2 that is no type at all is not repeated in the diagnostics', () => {
		assert.doesNotMatch(failureOf(() => orderOf('OBX|1|Jane Doe|K||1||||||F')).diagnostics, /jane/i);
	});
	for (const value of [
		'^IM^JPEG^Base64^AAAA',
		'^image^PNG^Base64^AAAA',
		'^AP^DICOM^Base64^AAAA',
		'^NS^Octet-stream^Base64^AAAA',
		'^image/jpeg^^Base64^AAAA',
	]) {
		test(`ED ${value} is an image`, () => {
			const failure = failureOf(() => orderOf(`OBX|1|ED|K^K^L||${value}||||||F`));
			assert.equal(failure.code, 'business-rule');
			assert.match(failure.diagnostics, /HL7 imports no images/);
			assert.deepEqual(failure.location, { segment: 'OBX', sequence: 1, field: 5 });
		});
	}
	const files: [string, string][] = [
		['JPEG', 'ffd8ffe000104a46'],
		['PNG', '89504e470d0a1a0a'],
		['GIF', '474946383961'],
		['TIFF (little-endian)', '49492a0008000000'],
		['TIFF (big-endian)', '4d4d002a00000008'],
		['DICOM', `${'00'.repeat(128)}4449434d0200`],
	];
	for (const [name, hex] of files) {
		test(`a ${name} file is an image whatever ED declares it to be`, () => {
			for (const data of [`Base64^${Buffer.from(hex, 'hex').toString('base64')}`, `Hex^${hex}`]) {
				const failure = failureOf(() => orderOf(`OBX|1|ED|K^K^L||^AP^PDF^${data}||||||F`));
				assert.equal(failure.code, 'business-rule');
			}
		});
	}
	test('data that only contain a signature, and a type of image without data or pointer, are no image', () => {
		const contained = Buffer.from(' \x89PNG\r\n\x1a\n GIF89a', 'latin1').toString('base64');
		assert.equal(observations(orderOf(`OBX|1|ED|K^K^L||^AP^PDF^Base64^${contained}||||||F`)).length, 1);
		assert.equal(observations(orderOf('OBX|1|RP|K^K^L||^^IM||||||F')).length, 1);
	});
	for (const value of ['x^^IM^JPEG', 'x^^Application^DICOM', 'x^^image^png', 'x^^IM', 'x^^im^X-viewer', 'x^^SI^PDF']) {
		test(`RP ${value} points at an image`, () => {
			assert.equal(failureOf(() => orderOf(`OBX|1|RP|K^K^L||${value}||||||F`)).code, 'business-rule');
		});
	}
	test('data that is not in its encoding', () => {
		assert.equal(failureOf(() => orderOf('OBX|1|ED|K^K^L||^AP^PDF^Base64^%%%%||||||F')).code, 'data-type');
		assert.equal(failureOf(() => orderOf('OBX|1|ED|K^K^L||^AP^PDF^Hex^0G||||||F')).code, 'data-type');
	});
	test('a value that nothing names', () => {
		const failure = failureOf(() => read('ORU^R01', ['PID|1||100', 'OBR|1||F1', 'OBX|1|NM|||1||||||F']));
		assert.equal(failure.code, 'required-field-missing');
		assert.deepEqual(failure.location, { segment: 'OBX', sequence: 1, field: 3 });
	});
});

describe('OBX-11', () => {
	const rows: [string, string, boolean][] = [
		['A', 'amended', false],
		['B', 'amended', true],
		['C', 'corrected', false],
		['D', 'entered-in-error', true],
		['F', 'final', false],
		['I', 'registered', true],
		['N', 'cancelled', true],
		['O', 'registered', true],
		['P', 'preliminary', false],
		['R', 'preliminary', true],
		['S', 'preliminary', true],
		['U', 'final', true],
		['V', 'final', true],
		['W', 'entered-in-error', true],
		['X', 'cancelled', true],
	];
	for (const [code, status, coarser] of rows) {
		test(`${code} is ${status}`, () => {
			const resource = observe({ 2: 'NM', 5: '1', 11: code });
			assert.equal(resource['status'], status);
			assert.equal(resource['_status'] !== undefined, coarser);
			assert.equal(resource['dataAbsentReason'], undefined);
		});
	}
	test('a code that table 0085 lacks is unknown and flagged', () => {
		const set = orderOf('OBX|1|NM|K^K^L||1||||||Q');
		assert.equal(observations(set)[0]?.resource['status'], 'unknown');
		assert.deepEqual(
			set.flags.map(({ code }) => code),
			['unreadable-value'],
		);
	});
	test('an empty one takes the status of OBR-25, else unknown', () => {
		const obr = fieldsOf('OBR', { 1: '1', 3: 'F1', 4: 'P^Panel^L', 25: 'P' });
		assert.equal(observe({ 2: 'NM', 5: '1', 11: '' }, obr)['status'], 'preliminary');
		assert.equal(observe({ 2: 'NM', 5: '1', 11: '' })['status'], 'unknown');
	});
	test('X and N without a value say why there is none', () => {
		const reason = (code: string) => (observe({ 2: 'NM', 11: code })['dataAbsentReason'] as { coding: { code: string }[] }).coding[0]?.code;
		assert.equal(reason('X'), 'unknown');
		assert.equal(reason('N'), 'not-asked');
	});
	for (const code of ['D', 'U', 'W']) {
		test(`${code} without a value changes the status alone, with a value the whole`, () => {
			assert.equal(observations(orderOf(`OBX|1|NM|K^K^L||""||||||${code}`))[0]?.statusOnly, true);
			assert.equal(observations(orderOf(`OBX|1|NM|K^K^L||1||||||${code}`))[0]?.statusOnly, undefined);
		});
	}
});

describe('further OBX fields', () => {
	const full = observe({
		2: 'NM',
		4: 'S1',
		5: '6.2',
		6: 'mmol/L',
		7: '3.5-5.1',
		8: 'H~ZZ',
		14: '20240101',
		15: 'LAB1^Main lab^L',
		16: '77^Who^Doc^^^Dr',
		17: 'M1^Method^L',
		18: 'DEV1^NS',
		19: '202401010203',
		20: 'ARM^Arm^L',
		21: 'OB1^LIS',
		23: 'General Lab^L^^^^LAB&1.2.3&ISO^XX^^^G1',
	});
	const rows: [string, string, unknown][] = [
		['OBX-3', 'code', { coding: [{ code: 'K', display: 'Potassium' }], text: 'Potassium' }],
		['OBX-7', 'referenceRange', [{ low: { value: 3.5, unit: 'mmol/L' }, high: { value: 5.1, unit: 'mmol/L' }, text: '3.5-5.1' }]],
		[
			'OBX-8',
			'interpretation',
			[
				{ coding: [{ system: 'http://terminology.hl7.org/CodeSystem/v3-ObservationInterpretation', code: 'H', display: 'High' }] },
				{ coding: [{ system: table('0078'), code: 'ZZ' }] },
			],
		],
		['OBX-14', 'effectiveDateTime', '2024-01-01'],
		[
			'OBX-16, 23 and 15',
			'performer',
			[
				{ type: 'Practitioner', identifier: { value: '77' }, display: 'Dr Doc Who' },
				{ type: 'Organization', identifier: { system: 'urn:oid:1.2.3', value: 'G1' }, display: 'General Lab' },
				{ type: 'Organization', identifier: { value: 'LAB1' }, display: 'Main lab' },
			],
		],
		['OBX-17', 'method', { coding: [{ code: 'M1', display: 'Method' }], text: 'Method' }],
		['OBX-18', 'device', { type: 'Device', identifier: { system: 'urn:id:NS', value: 'DEV1' } }],
		['OBX-20', 'bodySite', { coding: [{ code: 'ARM', display: 'Arm' }], text: 'Arm' }],
		['OBX-21', 'identifier', [{ type: { coding: [{ system: table('0203'), code: 'FILL' }] }, system: 'urn:id:LIS', value: 'OB1' }]],
		[
			'OBX-4 and 19',
			'extension',
			[
				{
					url: 'http://hl7.org/fhir/StructureDefinition/observation-v2-subid',
					extension: [{ url: 'original-sub-identifier', valueString: 'S1' }],
				},
				{ url: 'http://hl7.org/fhir/StructureDefinition/observation-analysis-date-time', valueDateTime: '2024-01-01T02:03:00+01:00' },
			],
		],
	];
	for (const [field, element, expected] of rows) {
		test(`${field}: Observation.${element}`, () => assert.deepEqual(full[element], expected));
	}
	for (const [text, expected] of [
		['<=5', { high: { value: 5 }, text: '<=5' }],
		['>=1.5', { low: { value: 1.5 }, text: '>=1.5' }],
		['-5 - -1', { low: { value: -5 }, high: { value: -1 }, text: '-5 - -1' }],
		['<5', { text: '<5' }],
		['negative', { text: 'negative' }],
		['1.2.3-4', { text: '1.2.3-4' }],
		['5.1-3.5', { text: '5.1-3.5' }],
	] as const) {
		test(`the reference range ${text} has bounds only where they are certain`, () => {
			assert.deepEqual(observe({ 2: 'NM', 5: '1', 7: text })['referenceRange'], [expected]);
		});
	}
});
