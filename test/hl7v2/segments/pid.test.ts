import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { JsonObject } from '#core/json.ts';
import { applyPatch } from '#record/apply/patch.ts';
import { failureOf, fieldsOf, patients, pidPatch, pidWith, read } from '../reading.ts';

const core = 'http://hl7.org/fhir/StructureDefinition/';
const type = (code: string) => ({ coding: [{ system: 'http://terminology.hl7.org/CodeSystem/v2-0203', code }] });

/** PID field → Patient element, after the HL7 v2-to-FHIR guide (PID[Patient]). */
const elements: { name: string; field: number; value: string; expected: Record<string, unknown> }[] = [
	{
		name: 'PID-5 with all components',
		field: 5,
		value: 'Everyman&van^Adam^A^III^Dr^PhD^L^^^^^20200101^20210101',
		expected: {
			name: [
				{
					use: 'official',
					text: 'Dr Adam A Everyman III PhD',
					family: 'Everyman',
					given: ['Adam', 'A'],
					prefix: ['Dr'],
					suffix: ['III', 'PhD'],
					period: { start: '2020-01-01', end: '2021-01-01' },
				},
			],
		},
	},
	{
		name: 'PID-5 with a professional suffix',
		field: 5,
		value: `Doe^Jane${'^'.repeat(12)}RN`,
		expected: { name: [{ text: 'Jane Doe RN', family: 'Doe', given: ['Jane'], suffix: ['RN'] }] },
	},
	{
		name: 'PID-5 with the parts of a surname only',
		field: 5,
		value: '&von&Berg^Eva~&&Berg&de&Vries^Eva',
		expected: {
			name: [
				{ text: 'Eva von Berg', family: 'von Berg', given: ['Eva'] },
				{ text: 'Eva Berg de Vries', family: 'Berg de Vries', given: ['Eva'] },
			],
		},
	},
	{
		name: 'PID-5 by type',
		field: 5,
		value: 'Doe^Jane^^^^^L~Smith^Jane^^^^^M~^JJ^^^^^N',
		expected: {
			name: [
				{ use: 'official', text: 'Jane Doe', family: 'Doe', given: ['Jane'] },
				{ use: 'maiden', text: 'Jane Smith', family: 'Smith', given: ['Jane'] },
				{ use: 'nickname', text: 'JJ', given: ['JJ'] },
			],
		},
	},
	{
		name: 'PID-5 in letters, in ideograms and as it is spoken',
		field: 5,
		value: 'Yamada^Tarou^^^^^L^A~山田^太郎^^^^^L^I~やまだ^たろう^^^^^L^P',
		expected: {
			name: [
				['ABC', 'Yamada', 'Tarou'],
				['IDE', '山田', '太郎'],
				['SYL', 'やまだ', 'たろう'],
			].map(([valueCode, family, given]) => ({
				extension: [{ url: 'http://hl7.org/fhir/StructureDefinition/iso21090-EN-representation', valueCode }],
				use: 'official',
				text: `${given} ${family}`,
				family,
				given: [given],
			})),
		},
	},
	{ name: 'PID-7, a year', field: 7, value: '1980', expected: { birthDate: '1980', _birthDate: null } },
	{ name: 'PID-7, a month', field: 7, value: '198005', expected: { birthDate: '1980-05', _birthDate: null } },
	{ name: 'PID-7, a day', field: 7, value: '19800517', expected: { birthDate: '1980-05-17', _birthDate: null } },
	{ name: 'PID-7, a day padded with zeros', field: 7, value: '19800517000000', expected: { birthDate: '1980-05-17', _birthDate: null } },
	{
		name: 'PID-7 with a time',
		field: 7,
		value: '198005171030',
		expected: {
			birthDate: '1980-05-17',
			_birthDate: { extension: [{ url: `${core}patient-birthTime`, valueDateTime: '1980-05-17T10:30:00+01:00' }] },
		},
	},
	...Object.entries({ M: 'male', F: 'female', O: 'other', A: 'other', N: 'other', U: 'unknown', m: 'male', X9: 'unknown' }).map(
		([value, gender]) => ({ name: `PID-8 ${value}`, field: 8, value, expected: { gender } }),
	),
	{
		name: 'PID-11',
		field: 11,
		value: '1 Main St&Main St&1^Flat 2^Leiden^ZH^2311^NLD^H^^Zuid-Holland',
		expected: {
			address: [
				{
					use: 'home',
					text: '1 Main St, Flat 2, Leiden, ZH 2311, Zuid-Holland, NLD',
					line: ['1 Main St', 'Flat 2'],
					city: 'Leiden',
					district: 'Zuid-Holland',
					state: 'ZH',
					postalCode: '2311',
					country: 'NLD',
				},
			],
		},
	},
	{
		name: 'PID-15',
		field: 15,
		value: 'nl',
		expected: { communication: [{ language: { coding: [{ system: 'urn:ietf:bcp:47', code: 'nl' }] } }] },
	},
	{
		name: 'PID-16',
		field: 16,
		value: 'M',
		expected: {
			maritalStatus: {
				coding: [
					{ system: 'http://terminology.hl7.org/CodeSystem/v3-MaritalStatus', code: 'M', display: 'Married' },
					{ system: 'http://terminology.hl7.org/CodeSystem/v2-0002', code: 'M' },
				],
			},
		},
	},
	{ name: 'PID-24', field: 24, value: 'Y', expected: { multipleBirthBoolean: true } },
	{ name: 'PID-24 N', field: 24, value: 'N', expected: { multipleBirthBoolean: false, multipleBirthInteger: null } },
	{ name: 'PID-25', field: 25, value: '2', expected: { multipleBirthInteger: 2, multipleBirthBoolean: null } },
	{
		name: 'PID-29',
		field: 29,
		value: '202001020304',
		expected: { deceasedDateTime: '2020-01-02T03:04:00+01:00', deceasedBoolean: null },
	},
	{ name: 'PID-30', field: 30, value: 'Y', expected: { deceasedBoolean: true } },
	{ name: 'PID-30 N', field: 30, value: 'N', expected: { deceasedBoolean: false, deceasedDateTime: null } },
];

const parts: { name: string; field: number; value: string; part: string; expected: Record<string, unknown> }[] = [
	{
		name: 'PID-6',
		field: 6,
		value: 'Jones^Mary',
		part: 'extension',
		expected: { [`${core}patient-mothersMaidenName`]: [{ url: `${core}patient-mothersMaidenName`, valueString: 'Jones' }] },
	},
	{
		name: 'PID-10',
		field: 10,
		value: '2106-3^White^CDCREC',
		part: 'extension',
		expected: {
			'http://hl7.org/fhir/us/core/StructureDefinition/us-core-race': [
				{
					url: 'http://hl7.org/fhir/us/core/StructureDefinition/us-core-race',
					extension: [
						{ url: 'ombCategory', valueCoding: { system: 'urn:oid:2.16.840.1.113883.6.238', code: '2106-3', display: 'White' } },
						{ url: 'text', valueString: 'White' },
					],
				},
			],
		},
	},
	{
		name: 'PID-13',
		field: 13,
		value: '020 1234^PRN^PH~^NET^Internet^a@b.example~0612^PRS^CP~071^WPN^PH',
		part: 'telecom',
		expected: {
			home: [
				{ system: 'phone', value: '020 1234', use: 'home' },
				{ system: 'email', value: 'a@b.example', use: 'home' },
				{ system: 'phone', value: '0612', use: 'mobile' },
				{ id: 'PID-13.4', system: 'phone', value: '071', use: 'work' },
			],
		},
	},
	{
		name: 'PID-13 in parts',
		field: 13,
		value: '^PRN^PH^^31^71^5551234^99',
		part: 'telecom',
		expected: { home: [{ system: 'phone', value: '+31 71 5551234 X99', use: 'home' }] },
	},
	{
		name: 'PID-13 with a number and an e-mail address in one repetition',
		field: 13,
		value: '020 1234^PRN^PH^a@b.example~c@d.example^NET^Internet^c@d.example',
		part: 'telecom',
		expected: {
			home: [
				{ system: 'phone', value: '020 1234', use: 'home' },
				{ system: 'email', value: 'a@b.example', use: 'home' },
				{ system: 'email', value: 'c@d.example', use: 'home' },
			],
		},
	},
	{
		name: 'PID-14',
		field: 14,
		value: '071 1',
		part: 'telecom',
		expected: { work: [{ system: 'phone', value: '071 1', use: 'work' }] },
	},
	{
		name: 'PID-40',
		field: 40,
		value: '071 1^WPN^FX',
		part: 'telecom',
		expected: { all: [{ system: 'fax', value: '071 1', use: 'work' }] },
	},
	{
		name: 'PID-17',
		field: 17,
		value: 'CAT',
		part: 'extension',
		expected: {
			[`${core}patient-religion`]: [
				{
					url: `${core}patient-religion`,
					valueCodeableConcept: { coding: [{ system: 'http://terminology.hl7.org/CodeSystem/v2-0006', code: 'CAT' }] },
				},
			],
		},
	},
	{
		name: 'PID-18',
		field: 18,
		value: 'ACC1^^^HOSP',
		part: 'identifier',
		expected: { 'PID-3': [{ value: '100' }], AN: [{ value: 'ACC1', type: type('AN'), system: 'urn:id:HOSP' }] },
	},
	{
		name: 'PID-19',
		field: 19,
		value: '123456789',
		part: 'identifier',
		expected: { 'PID-3': [{ value: '100' }], SS: [{ value: '123456789', type: type('SS'), system: 'http://hl7.org/fhir/sid/us-ssn' }] },
	},
	{
		name: 'PID-20',
		field: 20,
		value: 'D1^CA',
		part: 'identifier',
		expected: { 'PID-3': [{ value: '100' }], DL: [{ value: 'D1', type: type('DL'), system: 'urn:id:CA' }] },
	},
	{
		name: 'PID-22',
		field: 22,
		value: 'H^Hispanic or Latino^HL70189',
		part: 'extension',
		expected: {
			'http://hl7.org/fhir/us/core/StructureDefinition/us-core-ethnicity': [
				{
					url: 'http://hl7.org/fhir/us/core/StructureDefinition/us-core-ethnicity',
					extension: [
						{
							url: 'ombCategory',
							valueCoding: { system: 'urn:oid:2.16.840.1.113883.6.238', code: '2135-2', display: 'Hispanic or Latino' },
						},
						{ url: 'text', valueString: 'Hispanic or Latino' },
					],
				},
			],
		},
	},
	{
		name: 'PID-23',
		field: 23,
		value: 'Leiden',
		part: 'extension',
		expected: { [`${core}patient-birthPlace`]: [{ url: `${core}patient-birthPlace`, valueAddress: { text: 'Leiden' } }] },
	},
];

describe('PID fields', () => {
	for (const { name, field, value, expected } of elements) {
		test(`${name} is ${Object.keys(expected).join(', ')}`, () => {
			assert.deepEqual(pidPatch(pidWith(field, value)).elements, expected);
		});
	}
	for (const { name, field, value, part, expected } of parts) {
		test(`${name} is a part of ${part}`, () => {
			assert.deepEqual(pidPatch(pidWith(field, value)).parts[part], expected);
		});
	}
	const nulls: [number, string, Record<string, null>][] = [
		[5, 'elements', { name: null }],
		[7, 'elements', { birthDate: null, _birthDate: null }],
		[8, 'elements', { gender: null }],
		[11, 'elements', { address: null }],
		[15, 'elements', { communication: null }],
		[16, 'elements', { maritalStatus: null }],
		[24, 'elements', { multipleBirthBoolean: null }],
		[25, 'elements', { multipleBirthInteger: null }],
		[29, 'elements', { deceasedDateTime: null }],
		[30, 'elements', { deceasedBoolean: null }],
		[13, 'telecom', { home: null }],
		[14, 'telecom', { work: null }],
		[17, 'extension', { [`${core}patient-religion`]: null }],
	];
	for (const [field, where, expected] of nulls) {
		test(`"" in PID-${field} removes ${Object.keys(expected).join(', ')}`, () => {
			const patch = pidPatch(pidWith(field, '""'));
			assert.deepEqual(where === 'elements' ? patch.elements : patch.parts[where], expected);
		});
	}
	test('an absent field and a field of empty components leave their elements out', () => {
		assert.deepEqual(pidPatch('PID|1||100||^^^^^||  ').elements, {});
		assert.deepEqual(pidPatch('PID|1||100').parts, { identifier: { 'PID-3': [{ value: '100' }] } });
	});
});

describe('PID-3', () => {
	test('the first repetition with an identifier is the business identifier, the others are kept in order', () => {
		const [patient] = patients(read('ADT^A08', ['PID|1||""~^^^NS~42^^^HOSP&1.2.3&ISO^MR^FAC^20200101^20210101~43^^^GP']));
		assert.deepEqual(patient?.identifiers, [
			{
				value: '42',
				type: type('MR'),
				system: 'urn:oid:1.2.3',
				period: { start: '2020-01-01', end: '2021-01-01' },
				assigner: { display: 'FAC' },
			},
			{ value: '43', system: 'urn:id:GP' },
		]);
	});
	test('an identifier without authority takes that of the site', () => {
		const [patient] = patients(read('ADT^A08', ['PID|1||42~43^^^GP'], { default_authority: 'urn:id:SITE' }));
		assert.deepEqual(
			patient?.identifiers.map((item) => item['system']),
			['urn:id:SITE', 'urn:id:GP'],
		);
	});
	for (const field of ['', '""', '^^^HOSP', '  ~""']) {
		test(`PID-3 "${field}" refuses the message`, () => {
			const failure = failureOf(() => read('ADT^A08', [`PID|1||${field}||Doe^Jane`]));
			assert.equal(failure.code, 'required-field-missing');
			assert.match(failure.diagnostics, /^PID-3 /);
			assert.deepEqual(failure.location, { segment: 'PID', sequence: 1, field: 3 });
		});
	}
	test('an identifier that is too long for a key refuses the message', () => {
		assert.equal(failureOf(() => read('ADT^A08', [`PID|1||${'9'.repeat(300)}`])).code, 'value-too-long');
	});
});

describe('PID-7 that is not a date', () => {
	test('refuses an ADT message and names the field, not the value', () => {
		const failure = failureOf(() => read('ADT^A08', ['PID|1||42||||Aug 15, 1942']));
		assert.equal(failure.code, 'data-type');
		assert.match(failure.diagnostics, /^PID-7 /);
		assert.doesNotMatch(failure.diagnostics, /1942/);
		assert.deepEqual(failure.location, { segment: 'PID', sequence: 1, field: 7 });
	});
	test('is left out and flagged in an ORU message, whose PID only identifies', () => {
		const set = read('ORU^R01', ['PID|1||42||||Aug 15, 1942', 'OBR|1||F1', 'OBX|1|NM|K^K^L||1||||||F']);
		assert.equal(patients(set)[0]?.patch.elements['birthDate'], undefined);
		assert.deepEqual(
			set.flags.map((flag) => flag.code),
			['unreadable-value'],
		);
	});
});

describe('snapshots of a patient', () => {
	const after = (...pids: string[]): JsonObject => {
		const resource: JsonObject = {};
		for (const pid of pids) applyPatch(resource, pidPatch(pid));
		return resource;
	};
	test('a work number in PID-13 goes when the next PID-13 lacks it, and PID-14 stays', () => {
		const first = fieldsOf('PID', { 3: '1', 13: '1^PRN~2^WPN', 14: '3' });
		const resource = after(first, fieldsOf('PID', { 3: '1', 13: '1^PRN' }));
		assert.deepEqual(
			(resource['telecom'] as JsonObject[]).map(({ value }) => value),
			['1', '3'],
		);
	});
	test('a licence in PID-3 goes when the next PID-3 lacks it, and that of PID-20 stays', () => {
		const first = fieldsOf('PID', { 3: '1~D3^^^ST^DL', 20: 'D20' });
		const resource = after(first, fieldsOf('PID', { 3: '1' }));
		assert.deepEqual(
			(resource['identifier'] as JsonObject[]).map(({ value }) => value),
			['1', 'D20'],
		);
	});
	test('PID-30 Y alone keeps the time of death, N removes it', () => {
		const dead = fieldsOf('PID', { 3: '1', 29: '20200102', 30: 'Y' });
		assert.equal(after(dead, fieldsOf('PID', { 3: '1', 30: 'Y' }))['deceasedDateTime'], '2020-01-02');
		assert.equal(after(dead, fieldsOf('PID', { 3: '1', 30: 'Y' }))['deceasedBoolean'], undefined);
		assert.deepEqual(after(dead, fieldsOf('PID', { 3: '1', 30: 'N' }))['deceasedBoolean'], false);
		assert.equal(after(dead, fieldsOf('PID', { 3: '1', 30: 'N' }))['deceasedDateTime'], undefined);
	});
});
