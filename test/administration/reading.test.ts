import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { Hl7v2Names, hl7v2Names } from '#administration/reading/hl7v2-names.ts';
import { readMessage } from '#administration/reading/read-message.ts';
import type { Reading, SegmentReading } from '#administration/reading/reading.ts';
import { defaultLimits } from '../../src/limits.ts';

const read = (text: string, limits = {}) => readMessage(Buffer.from(text), { ...defaultLimits, ...limits });

function segmentsOf(text: string, limits = {}): { reading: Extract<Reading, { format: 'hl7v2' }>; of(id: string): SegmentReading } {
	const reading = read(text, limits);
	assert.equal(reading.format, 'hl7v2');
	if (reading.format !== 'hl7v2') throw new Error('not reached');
	return { reading, of: (id) => reading.segments.find((segment) => segment.id === id) ?? assert.fail(`no ${id}`) };
}

const message = [
	'MSH|^~\\&|ADT|WEST|||20260301100000||ADT^A08|C1|P|2.5.1',
	'PID|1||4711^^^MRN&1.2.3&ISO~99^^^SSN||DOE^JANE^^^^^L||19700131|F|||1 Elm \\T\\ Oak^^Town|||""',
	'PV1|1|I|W1^R2',
	'OBX|1|CE|718-7^Hb^LN||A^Alpha^L',
	'ZXY|a|b^c',
].join('\r');

describe('the reading view of HL7 v2', () => {
	test('names segments, fields and components as v2.5.1 does, and says what codes mean', () => {
		const { reading, of } = segmentsOf(message);
		assert.deepEqual([reading.version, reading.is_cut, reading.segments.length], ['2.5.1', false, 5]);
		assert.equal(of('PID').name, 'Patient Identification');
		const [setId, identifiers, name, born, sex, address, deleted] = of('PID').fields;
		assert.deepEqual([setId?.number, setId?.repetitions[0]?.value, setId?.repetitions[0]?.components], [1, '1', []]);
		assert.deepEqual([identifiers?.name, identifiers?.datatype, identifiers?.repetitions.length], ['Patient Identifier List', 'CX', 2]);
		const [value, authority] = identifiers?.repetitions[0]?.components ?? [];
		assert.deepEqual([value?.number, value?.name, value?.value], [1, 'ID Number', '4711']);
		assert.deepEqual([authority?.number, authority?.name], [4, 'Assigning Authority']);
		assert.deepEqual(
			authority?.subcomponents.map((part) => [part.number, part.name, part.value]),
			[
				[1, 'Namespace ID', 'MRN'],
				[2, 'Universal ID', '1.2.3'],
				[3, 'Universal ID Type', 'ISO'],
			],
		);
		assert.equal(name?.repetitions[0]?.components.at(-1)?.meaning, 'Legal Name');
		assert.equal(born?.repetitions[0]?.value, '19700131');
		assert.deepEqual([sex?.repetitions[0]?.value, sex?.repetitions[0]?.meaning], ['F', 'Female']);
		assert.equal(address?.repetitions[0]?.components[0]?.value, '1 Elm & Oak');
		assert.deepEqual([deleted?.number, deleted?.deletes], [14, true]);
		assert.equal(of('PV1').fields[1]?.repetitions[0]?.meaning, 'Inpatient');
		const system = of('OBX').fields.find(({ number }) => number === 3)?.repetitions[0]?.components[2];
		assert.equal(system?.meaning, 'Logical Observation Identifier Names and Codes (LOINC®)');
	});

	test('the header keeps its delimiters and its numbers', () => {
		const { of } = segmentsOf(message);
		const [separator, encoding, application] = of('MSH').fields;
		assert.deepEqual([separator?.number, separator?.repetitions[0]?.value], [1, '|']);
		assert.deepEqual([encoding?.number, encoding?.repetitions[0]?.value, encoding?.repetitions[0]?.components], [2, '^~\\&', []]);
		assert.deepEqual([application?.number, application?.name], [3, 'Sending Application']);
		const type = of('MSH').fields.find(({ number }) => number === 9);
		assert.deepEqual(
			type?.repetitions[0]?.components.map((part) => [part.name, part.value]),
			[
				['Message Code', 'ADT'],
				['Trigger Event', 'A08'],
			],
		);
	});

	test('OBX-5 is of the datatype that OBX-2 names; a segment of a site’s own has numbers alone', () => {
		const { of } = segmentsOf(message);
		const observed = of('OBX').fields.find(({ number }) => number === 5);
		assert.deepEqual([observed?.datatype, observed?.repetitions[0]?.components[1]?.name], ['CE', 'Text']);
		const own = of('ZXY');
		assert.deepEqual(
			[own.name, own.fields[0]?.name, own.fields[1]?.number, own.fields[1]?.repetitions[0]?.components[1]?.name],
			[null, null, 2, null],
		);
	});

	test('what is long is cut, with its length; what is much is cut, and says so', () => {
		const { of } = segmentsOf(`MSH|^~\\&|||||||ORU^R01|1|P|2.5\rOBX|1|TX|a||${'x'.repeat(300)}`, { readingCharactersMax: 100 });
		const value = of('OBX').fields.at(-1)?.repetitions[0];
		assert.deepEqual([value?.value.length, value?.length], [101, 300]);
		const much = segmentsOf(`MSH|^~\\&|||||||ORU^R01|1|P|2.5\r${'NTE|1||x\r'.repeat(100)}`, { readingValuesMax: 100 });
		assert.ok(much.reading.is_cut && much.reading.segments.length < 100);
	});

	test('names that no dictionary has are no names of objects either', () => {
		const names = hl7v2Names();
		for (const name of ['constructor', '__proto__', 'toString']) {
			assert.deepEqual(
				[names.segment(name), names.field(name, 1), names.component(name, 1), names.meaning(1, name)],
				[null, undefined, undefined, null],
			);
		}
		assert.throws(() => new Hl7v2Names({ segments: { PID: {} }, datatypes: {}, tables: {} }));
	});
});

describe('the reading view of other formats', () => {
	test('XML is indented, an element a line', () => {
		const reading = read('<a x="1"><b>t &amp; u</b><c/><d>v<e/></d></a>');
		assert.deepEqual(reading, {
			format: 'xml',
			text: '<a x="1">\n  <b>t &amp; u</b>\n  <c/>\n  <d>\n    v\n    <e/>\n  </d>\n</a>',
			is_cut: false,
		});
	});

	test('JSON is indented and keeps its decimals', () => {
		assert.deepEqual(read('{"a":1.00,"b":["x"]}'), {
			format: 'json',
			head: [],
			text: '{\n  "a": 1.00,\n  "b": [\n    "x"\n  ]\n}',
			is_cut: false,
		});
	});

	test('a FHIR request has its head and its body', () => {
		const reading = read('PUT Patient/1\r\ncontent-type: application/fhir+json\r\n\r\n{"resourceType":"Patient"}');
		assert.ok(reading.format === 'json');
		assert.deepEqual([reading.head[0], reading.text], ['PUT Patient/1', '{\n  "resourceType": "Patient"\n}']);
	});

	for (const [name, text] of [
		['HL7 v2 that is none', 'MSH'],
		['XML that does not end', '<a><b>'],
		['XML with a document type', '<!DOCTYPE a><a/>'],
		['JSON that does not end', '{"a":'],
		['nothing at all', ''],
		['bytes of no format', '\u0000\u0001 hello'],
	] as const) {
		test(`${name} is shown as it came`, () => {
			assert.deepEqual(read(text), { format: 'text', text, is_cut: false });
		});
	}
});
