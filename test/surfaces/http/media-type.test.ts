import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { Failure } from '#core/failure.ts';
import { jsonType, type Packing, packingOf } from '#surfaces/dicomweb/negotiation.ts';
import { answerType, wantsResource } from '#surfaces/fhir/negotiation.ts';
import { answersXml, checkMediaType, checkXmlMediaType } from '#surfaces/hl7-http/media-type.ts';
import { acceptedRanges, bodyType, byWeight, includes, parseMediaType, preferredType, weightOf } from '#surfaces/http/media-type.ts';

function request(headers: Record<string, string>, query = '') {
	return { query, header: (name: string) => headers[name] };
}

const refusedAs = (code: string) => (error: unknown) => error instanceof Failure && error.code === code;

describe('a media type', () => {
	const cases: [string, string, Record<string, string>][] = [
		['text/plain', 'text/plain', {}],
		[' Text/XML ; Charset = "UTF-8" ', 'text/xml', { charset: 'UTF-8' }],
		['multipart/related; type="application/dicom"; boundary=x', 'multipart/related', { type: 'application/dicom', boundary: 'x' }],
		['multipart/related; type=application/dicom', 'multipart/related', { type: 'application/dicom' }],
		['multipart/related; boundary="a;b,c\\"d"', 'multipart/related', { boundary: 'a;b,c"d' }],
		['application/dicom; transfer-syntax=*', 'application/dicom', { 'transfer-syntax': '*' }],
		['application/json;', 'application/json', {}],
		['application/json; charset', 'application/json', {}],
		['a/b; x="never closed', 'a/b', {}],
		['', '', {}],
	];
	for (const [text, name, parameters] of cases) {
		test(`'${text}' is read with its parameters`, () => {
			const parsed = parseMediaType(text);
			assert.deepEqual([parsed.name, { ...parsed.parameters }], [name, parameters]);
		});
	}

	test('that is not there has no name', () => {
		assert.equal(parseMediaType(undefined).name, '');
	});
});

describe('the ranges of Accept', () => {
	const cases: [string, [string, number][]][] = [
		[
			'text/html, application/json;q=0.5',
			[
				['text/html', 1],
				['application/json', 0.5],
			],
		],
		[
			'a/b; x="1,2";q=0.1, c/d',
			[
				['a/b', 0.1],
				['c/d', 1],
			],
		],
		[
			'a/b; x="1\\",2", c/d',
			[
				['a/b', 1],
				['c/d', 1],
			],
		],
		[', ,a/b,,', [['a/b', 1]]],
		[
			'a/b;q=2, c/d;q=x, e/f;q=-1, g/h;q=',
			[
				['a/b', 0],
				['c/d', 0],
				['e/f', 0],
				['g/h', 0],
			],
		],
		['', []],
	];
	for (const [header, expected] of cases) {
		test(`'${header}' are told apart, a quoted comma among them`, () => {
			assert.deepEqual(
				acceptedRanges(header).map(({ name, weight }) => [name, weight]),
				expected,
			);
		});
	}

	test('stand in the order of their weights, equal ones in that of the caller', () => {
		const names = byWeight(acceptedRanges('a/a;q=0.5, b/b, c/c;q=0, d/d, e/e;q=0.5')).map(({ name }) => name);
		assert.deepEqual(names, ['b/b', 'd/d', 'a/a', 'e/e']);
	});

	test('cover a type by its name, its group or all', () => {
		assert.deepEqual(
			['text/xml', 'text/*', '*/*', 'text/plain', 'application/*', 'tex/*'].map((range) => includes(range, 'text/xml')),
			[true, true, true, false, false, false],
		);
	});

	test('decide by the most precise one', () => {
		const ranges = acceptedRanges('*/*;q=0.1, text/*;q=0.5, text/xml;q=0, text/xml');
		assert.deepEqual(
			['text/xml', 'text/plain', 'image/png'].map((name) => weightOf(ranges, name)),
			[0, 0.5, 0.1],
		);
		assert.equal(weightOf([], 'text/xml'), undefined);
	});

	const preferred: [string, string | undefined][] = [
		['*/*', 'x/a'],
		['x/*', 'x/a'],
		['x/b, */*', 'x/b'],
		['*/*, x/b', 'x/a'],
		['x/a;q=0, */*', 'x/b'],
		['x/a;q=0.2, x/b;q=0.8', 'x/b'],
		['*/*;q=0.9, x/a;q=0.1, x/b;q=0.5', 'x/b'],
		['x/a;q=0, x/b;q=0', undefined],
		['y/*', undefined],
		['', undefined],
	];
	for (const [header, expected] of preferred) {
		test(`'${header}' ask for ${expected ?? 'nothing'} of x/a and x/b`, () => {
			assert.equal(preferredType(acceptedRanges(header), ['x/a', 'x/b']), expected);
		});
	}
});

describe('a body', () => {
	test('is of one of the types, whatever its parameters', () => {
		const { name, parameters } = bodyType(request({ 'content-type': 'Application/JSON; charset=utf-8' }), ['application/json']);
		assert.deepEqual([name, parameters['charset']], ['application/json', 'utf-8']);
	});

	const refused: Record<string, string>[] = [
		{},
		{ 'content-type': 'text/html' },
		{ 'content-type': 'text/html, application/json' },
		{ 'content-type': 'application/json', 'content-encoding': 'gzip' },
	];
	for (const headers of refused) {
		test(`with ${JSON.stringify(headers)} is refused`, () => {
			assert.throws(() => bodyType(request(headers), ['application/json']), refusedAs('unsupported-media-type'));
		});
	}

	test('may say that it is not coded', () => {
		bodyType(request({ 'content-type': 'application/json', 'content-encoding': 'Identity' }), ['application/json']);
	});
});

describe('FHIR', () => {
	const fhirJson = 'application/fhir+json; fhirVersion=4.0; charset=utf-8';
	const plainJson = 'application/json; charset=utf-8';
	const cases: [string, string | undefined][] = [
		['application/fhir+json; fhirVersion="4.0"', fhirJson],
		['application/fhir+json; fhirVersion=3.0, application/json;q=0.1', plainJson],
		['application/json, text/plain, */*', plainJson],
		['application/json; odata="a,b"', plainJson],
		['text/json', plainJson],
		['application/*', fhirJson],
		['application/fhir+json;q=0, */*', plainJson],
		['application/fhir+xml', undefined],
		['image/png; x="application/fhir+json, application/json"', undefined],
	];
	for (const [accept, expected] of cases) {
		test(`to Accept: ${accept} is ${expected === undefined ? 'not acceptable' : `answered as ${expected}`}`, () => {
			if (expected === undefined) assert.throws(() => answerType(request({ accept })), refusedAs('not-acceptable'));
			else assert.equal(answerType(request({ accept })), expected);
		});
	}

	test('gives a Binary as a resource to who names FHIR JSON', () => {
		const wants = (accept: string) => wantsResource(request({ accept }), 'application/pdf; x=1');
		assert.deepEqual(
			['application/fhir+json', 'application/fhir+json;q=0.5, */*;q=0.6', 'application/fhir+json, */*;q=0.1', '*/*', 'application/pdf'].map(
				wants,
			),
			[true, false, true, false, false],
		);
		assert.throws(() => wants('application/fhir+xml'), refusedAs('not-acceptable'));
	});
});

describe('HL7 over HTTP', () => {
	test('takes the character sets in which HL7 v2 is sent', () => {
		for (const type of ['text/plain', 'x-application/hl7-v2+er7; charset="UTF-8"', 'application/hl7-v2;charset=iso-8859-1'])
			checkMediaType(request({ 'content-type': type }));
		for (const type of ['text/plain; charset=utf-16', 'application/json', ''])
			assert.throws(() => checkMediaType(request({ 'content-type': type })), refusedAs('unsupported-media-type'), type);
		assert.deepEqual(checkXmlMediaType(request({ 'content-type': 'Text/XML; charset="ISO-8859-1"' })), {
			type: 'text/xml',
			charset: 'iso-8859-1',
		});
	});

	const cases: [string | undefined, boolean | undefined][] = [
		[undefined, true],
		['*/*', true],
		['application/json', false],
		['application/json, application/xml', true],
		['application/json, */*;q=0.1', false],
		['application/xml;q=0.5, application/json;q=0.6', false],
		['text/xml, application/json;q=0.9', true],
		['text/plain; x="application/json, text/xml"', undefined],
	];
	for (const [accept, expected] of cases) {
		test(`to Accept: ${accept} is ${expected === undefined ? 'not acceptable' : `answered in ${expected ? 'XML' : 'JSON'}`}`, () => {
			if (expected === undefined) assert.throws(() => answersXml(accept, 'application/xml'), refusedAs('not-acceptable'));
			else assert.equal(answersXml(accept, 'application/xml'), expected);
		});
	}
});

describe('DICOMweb', () => {
	const offer = { mediaTypes: ['application/dicom'], transferSyntaxes: ['1.2.3'], convertsTo: [], isOne: true };
	const single = { isMultipart: false, mediaType: 'application/dicom', transferSyntax: undefined };
	const multipart = { ...single, isMultipart: true };
	const cases: [string, Packing | undefined][] = [
		['multipart/related; type="application/dicom"', multipart],
		['multipart/related; type=application/dicom', multipart],
		['multipart/related; type="application/*"', multipart],
		['multipart/related; type="application/dicom"; transfer-syntax=*', multipart],
		['multipart/related; type="application/dicom"; transfer-syntax=1.2.3', { ...multipart, transferSyntax: '1.2.3' }],
		['multipart/related; type="application/dicom"; transfer-syntax=9, application/dicom;q=0.1', single],
		['multipart/related; type="image/jpeg, application/dicom"', undefined],
		['application/dicom; transfer-syntax="1.2.3"', { ...single, transferSyntax: '1.2.3' }],
		['*/*', multipart],
		['image/jpeg', undefined],
	];
	for (const [accept, expected] of cases) {
		test(`to Accept: ${accept} is ${expected === undefined ? 'not acceptable' : expected.isMultipart ? 'in parts' : 'in one body'}`, () => {
			if (expected === undefined) assert.throws(() => packingOf(request({ accept }), offer), refusedAs('not-acceptable'));
			else assert.deepEqual(packingOf(request({ accept }), offer), expected);
		});
	}

	test('takes the query parameter for Accept, its plus sign escaped or not', () => {
		for (const query of ['accept=application/dicom%2Bjson', 'accept=application/dicom+json', 'accept=image/png,%20application/dicom+json'])
			assert.equal(jsonType(request({ accept: 'image/jpeg' }, query)), 'application/dicom+json', query);
		assert.equal(jsonType(request({ accept: 'application/json' })), 'application/json');
		assert.throws(() => jsonType(request({ accept: 'image/jpeg' })), refusedAs('not-acceptable'));
	});
});
