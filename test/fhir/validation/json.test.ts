import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { Failure } from '#core/failure.ts';
import { parseExact } from '#core/json.ts';
import { parseResourceJson } from '#fhir/validation/json.ts';
import { findJsonFault } from '#fhir/validation/json-fault.ts';
import { anyResource } from '#test/support/fhir-generators.ts';
import { fc, runs } from '#test/support/fuzzing.ts';

const limits = { depthMax: 100 };
const bytes = (text: string) => new TextEncoder().encode(text);
const parse = (text: string) => parseResourceJson(bytes(text), limits);

function refusal(body: Uint8Array | string): Failure {
	try {
		parseResourceJson(typeof body === 'string' ? bytes(body) : body, limits);
	} catch (failure) {
		assert.ok(failure instanceof Failure);
		assert.equal(failure.code, 'invalid');
		return failure;
	}
	assert.fail('it was taken');
}

describe('bodies that are refused', () => {
	/** A secret in each, which no text may repeat. */
	const table: [title: string, text: string, words: string, place: string, expression?: string][] = [
		['nothing', '', 'Not JSON: the text ends early', 'line 1, column 1'],
		['white space alone', ' \n ', 'Not JSON: the text ends early', 'line 2, column 2'],
		['an object that does not end', '{"a":"s3cret"', 'Not JSON: the text ends early', 'line 1, column 14'],
		['a string that does not end', '{"a":"s3cret', 'Not JSON: the text ends early', 'line 1, column 13'],
		['a comma too many in an object', '{"a":1,}', 'Not JSON: the name of a member is expected', 'line 1, column 8'],
		['a comma too many in a list', '{"a":[1,]}', 'Not JSON: a value is expected', 'line 1, column 9'],
		['a missing colon', '{"s3cret" 1}', 'Not JSON: a colon is expected', 'line 1, column 11'],
		['a missing comma', '{"a":1\n"s3cret":2}', 'Not JSON: a comma or the end of an object is expected', 'line 2, column 1'],
		['a list that an object ends', '{"a":[1}', 'Not JSON: a comma or the end of a list is expected', 'line 1, column 8'],
		['a name without quotes', '{s3cret:1}', 'Not JSON: the name of a member is expected', 'line 1, column 2'],
		['a text without quotes', '{"a":s3cret}', 'Not JSON: a value is expected', 'line 1, column 6'],
		['a zero in front', '{"a":01}', 'Not JSON: a comma or the end of an object is expected', 'line 1, column 7'],
		['not a number', '{"a":NaN}', 'Not JSON: a value is expected', 'line 1, column 6'],
		['a fraction without digits', '{"a":1.}', 'Not JSON: a comma or the end of an object is expected', 'line 1, column 7'],
		['a second value', '{"a":1}{"s3cret":1}', 'Not JSON: something follows the end of the value', 'line 1, column 8'],
		['a control character', '{"a":"s3\ncret"}', 'Not JSON: a control character stands in a string', 'line 1, column 9'],
		['an escape that is none', '{"a":"s3cret\\x"}', 'Not JSON: an escape in a string is not one', 'line 1, column 13'],
		['half an escape', '{"a":"\\u00"}', 'Not JSON: an escape in a string is not one', 'line 1, column 7'],
		['a comment', '{"a":1 /* s3cret */}', 'Not JSON: a comma or the end of an object is expected', 'line 1, column 8'],
		['half a surrogate pair', '{"a":"s3cret\\ud83d"}', 'Half a surrogate pair is no character', 'line 1, column 13'],
		['a low surrogate first', '{"a":"\\udc00\\ud800"}', 'Half a surrogate pair is no character', 'line 1, column 7'],
		['half a pair in a name', '{"\\ud800":1}', 'Half a surrogate pair is no character', 'line 1, column 3'],
		[
			'a name twice',
			'{"resourceType":"Patient","name":[{"family":"s3cret",\n"use":"old","family":"s3cret"}]}',
			'A name occurs twice in one object',
			'line 2, column 13',
			'Patient.name[0]',
		],
		[
			'a name twice, once by an escape',
			'{"resourceType":"Patient","id":"a","\\u0069d":"b"}',
			'A name occurs twice in one object',
			'line 1, column 36',
			'Patient',
		],
		[
			'__proto__',
			'{"resourceType":"Patient","contact":[{"__proto__":{"s3cret":1}}]}',
			'No element has this name',
			'line 1, column 39',
			'Patient.contact[0]',
		],
		['__proto__ by an escape', '{"\\u005f_proto__":1}', 'No element has this name', 'line 1, column 2'],
		['a type that is none', '{"resourceType":"s3cret","a":1,"a":2}', 'A name occurs twice in one object', 'line 1, column 32'],
	];
	for (const [title, text, words, place, expression] of table) {
		test(title, () => {
			const failure = refusal(text);
			assert.equal(failure.diagnostics, `${words} (${place})`);
			assert.equal(failure.location?.expression, expression);
		});
	}

	for (const text of ['[]', '[{"resourceType":"Patient"}]', '"s3cret"', '1', '1.50', 'null', 'true']) {
		test(`${text} is no object`, () => {
			assert.equal(refusal(text).diagnostics, 'The body is not a JSON object');
		});
	}

	test('bytes that are not UTF-8, with the place of the first', () => {
		const before = bytes('{"a":\n"é');
		assert.equal(refusal(new Uint8Array([...before, 0xff, 0x22, 0x7d])).diagnostics, 'The body is not UTF-8: line 2, column 3');
		assert.match(refusal(Buffer.from('{"a":"\ud800"}', 'utf16le')).diagnostics, /^The body is not UTF-8|^Not JSON/);
		// A surrogate half in three bytes (CESU-8), and a text that is cut within a character.
		assert.equal(refusal(new Uint8Array([...bytes('{"'), 0xed, 0xa0, 0x80])).diagnostics, 'The body is not UTF-8: line 1, column 3');
		assert.equal(refusal(bytes('{"é').subarray(0, 3)).diagnostics, 'The body is not UTF-8: line 1, column 3');
		// The replacement character itself is a character.
		assert.deepEqual(parse('{"a":"\ufffd"}'), { a: '\ufffd' });
	});
});

describe('depth', () => {
	const nested = (depth: number) => `${'{"a":['.repeat(depth / 2)}1${']}'.repeat(depth / 2)}`;

	test('is taken up to the limit', () => {
		assert.doesNotThrow(() => parse(nested(100)));
		assert.equal(refusal(nested(102)).diagnostics, 'Objects and lists may be nested 100 deep (line 1, column 301)');
	});

	test('counts no brackets in strings', () => {
		assert.deepEqual(parse(JSON.stringify({ a: '[{'.repeat(1000), 'b"\\': '"{[' })), { a: '[{'.repeat(1000), 'b"\\': '"{[' });
	});
});

describe('eight megabytes of', () => {
	const length = 8_000_000;
	const fill = (part: string) => part.repeat(Math.floor(length / part.length));
	const attacks: [title: string, text: () => string][] = [
		['opened lists', () => fill('[')],
		['opened objects', () => fill('{"a":')],
		['escaped quotes', () => `{"a":"${fill('\\"')}`],
		['backslashes', () => `{"a":"${fill('\\')}`],
		['escaped surrogate halves', () => `{"a":"${fill('\\ud800')}"}`],
		['the same name', () => `{${fill('"a":1,')}"a":1}`],
		['digits and a fault', () => `{"a":${fill('1')}x}`],
		['a fraction and a fault', () => `{"a":0.${fill('1')}x}`],
		['spaces', () => `{"a":1${fill(' ')}`],
		['commas', () => `{"a":[${fill(',')}]}`],
	];
	for (const [title, text] of attacks) {
		test(`${title} are refused`, () => {
			assert.ok(refusal(text()).diagnostics.length < 120);
		});
	}

	test('different names, nulls, and digits are read', () => {
		const names = Array.from({ length: 400_000 }, (_, index) => `"name${index}":1`);
		assert.equal(Object.keys(parse(`{${names.join(',')}}`)).length, names.length);
		assert.equal((parse(`{"a":[${fill('null,')}null]}`)['a'] as unknown[]).length, length / 5 + 1);
		assert.doesNotThrow(() => parse(`{"a":0.${fill('1')}}`));
	});
});

test('a byte order mark is skipped, decimals keep their digits', () => {
	assert.equal(
		JSON.stringify(parse('\ufeff{"a":1.00,"b":[-0.0,1E-22,1,12345678901234567890]}')),
		'{"a":1.00,"b":[-0.0,1E-22,1,12345678901234567890]}',
	);
});

test('what is parsed is what JSON.parse makes of it', () => {
	fc.assert(
		fc.property(anyResource(), fc.constantFrom(undefined, 1, '\t'), (resource, space) => {
			const text = JSON.stringify(resource, undefined, space);
			assert.deepEqual(parse(text), parseExact(text));
		}),
	);
	const json = fc.dictionary(fc.string({ unit: 'binary' }), fc.jsonValue({ maxDepth: 6, stringUnit: 'binary' }));
	fc.assert(
		fc.property(json, (value) => {
			const text = JSON.stringify(value);
			const isRefused = text.includes('__proto__') || !text.isWellFormed() || /\\ud[89a-f]/.test(text);
			if (!isRefused) assert.deepEqual(parse(text), parseExact(text));
		}),
		{ numRuns: runs(500) },
	);
});

test('the quick reading and the grammar agree about texts with a few characters changed', () => {
	const mark = fc.constantFrom(
		'{',
		'}',
		'[',
		']',
		'"',
		',',
		':',
		'\\',
		'0',
		'-',
		'e',
		'.',
		' ',
		'\n',
		'\u0001',
		'n',
		'\\u',
		'"a":',
		'__proto__',
	);
	fc.assert(
		fc.property(anyResource(), fc.array(fc.tuple(fc.nat(), mark, fc.nat(3)), { minLength: 1, maxLength: 3 }), (resource, changes) => {
			let text = JSON.stringify(resource);
			for (const [at, by, dropped] of changes) {
				const start = at % text.length;
				text = text.slice(0, start) + by + text.slice(start + dropped);
			}
			text = text.toWellFormed();
			const fault = findJsonFault(text, 100);
			const isObject = /^\s*\{/.test(text);
			if (fault === undefined && isObject) assert.doesNotThrow(() => parse(text));
			else if (fault !== undefined) assert.match(refusal(text).diagnostics, /line \d+, column \d+/);
		}),
		{ numRuns: runs(2000) },
	);
});
