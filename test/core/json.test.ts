import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { canonical, copyJson, exactDecimal, isEqualJson, isRawJson, type Json, type JsonObject, parseExact } from '#core/json.ts';
import { fc, fuzzing } from '#test/support/fuzzing.ts';

describe('exact JSON', () => {
	const kept = [
		'{"value":1.00}',
		'{"value":-0.0}',
		'{"value":-0}',
		'{"list":[-0,0,-1]}',
		'{"value":1e3}',
		'{"value":1E-7}',
		'{"value":12345678901234567890}',
		'{"list":[1.10,[2.20,{"deep":3.30}]]}',
		'{"number":7,"decimal":7.0,"text":"1.00"}',
	];
	for (const text of kept) {
		test(`${text} comes out as it went in`, () => assert.equal(JSON.stringify(parseExact(text)), text));
	}

	test('a number without digits to lose is a plain number', () => {
		const { count, zero } = parseExact('{"count":7,"zero":0}');
		assert.deepEqual([count, zero], [7, 0]);
	});

	test('what only looks like a decimal inside a text stays a text', () => {
		assert.deepEqual(parseExact('{"text":"\\":1.0","other":"[2.50"}'), { text: '":1.0', other: '[2.50' });
	});

	test('what is not JSON is refused', () => {
		for (const text of ['', '{', '{"a":01.0}', '{"a":1.}']) assert.throws(() => parseExact(text), SyntaxError, text);
		assert.throws(() => exactDecimal('one'), SyntaxError);
	});
});

describe('a canonical text', () => {
	test('does not depend on the order of members, at any depth', () => {
		const one = parseExact('{"b":[{"y":1.0,"x":2}],"a":null}');
		const other = parseExact('{"a":null,"b":[{"x":2,"y":1.0}]}');
		assert.equal(canonical(one), canonical(other));
		assert.equal(canonical(one), '{"a":null,"b":[{"x":2,"y":1.0}]}');
	});

	test('depends on the order of a list and on the digits of a decimal', () => {
		assert.notEqual(canonical([1, 2]), canonical([2, 1]));
		assert.notEqual(canonical(parseExact('{"a":1.0}')), canonical(parseExact('{"a":1.00}')));
	});
});

describe('equal values', () => {
	const equal = (left: string, right: string) => {
		const [one, other] = [left, right].map((text) => parseExact(`{"value":${text}}`)) as [JsonObject, JsonObject];
		return [isEqualJson(one, other), isEqualJson(other, one)];
	};

	test('are numbers of one value, however they are written', () => {
		for (const [left, right] of [
			['1.10E2', '110'],
			['1.0', '1'],
			['0.00', '-0'],
			['0.050', '5e-2'],
			['-12000', '-1.2e+4'],
			['1234567890123456789', '1234567890123456789.0'],
			[`1${'0'.repeat(100_000)}1`, `1${'0'.repeat(100_000)}1.0`],
		] as const)
			assert.deepEqual(equal(left, right), [true, true], `${left.slice(0, 30)} ${right.slice(0, 30)}`);
	});

	test('are objects with the same members, and lists in the same order', () => {
		assert.deepEqual(equal('{"a":[1,{"b":2.0}],"c":null}', '{"c":null,"a":[1.0,{"b":2}]}'), [true, true]);
	});

	test('are no others', () => {
		for (const [left, right] of [
			['1', '"1"'],
			['1', '-1'],
			['1', '10'],
			['1234567890123456789', '1234567890123456788'],
			['null', '{}'],
			['[]', '{}'],
			['[1,2]', '[2,1]'],
			['[1]', '[1,2]'],
			['{"a":1}', '{"b":1}'],
			['{"a":1}', '{"a":1,"b":1}'],
			['true', 'false'],
		] as const)
			assert.deepEqual(equal(left, right), [false, false], `${left} ${right}`);
	});
});

test('a copy is the same and shares nothing, and keeps exact decimals', (context) => {
	fc.assert(
		fc.property(fc.jsonValue(), (value) => {
			// What JSON cannot hold, such as -0, is not asked of a copy.
			const json = JSON.parse(JSON.stringify(value)) as Json;
			const copy = copyJson(json);
			assert.deepEqual(copy, json);
			if (typeof json === 'object' && json !== null) assert.notEqual(copy, json);
		}),
		fuzzing(context, 200),
	);
	const { inner } = copyJson(parseExact('{"inner":{"decimal":1.50}}'));
	assert.ok(inner !== null && typeof inner === 'object' && !Array.isArray(inner));
	assert.ok(isRawJson(inner['decimal']));
	assert.equal(JSON.stringify(inner), '{"decimal":1.50}');
});
