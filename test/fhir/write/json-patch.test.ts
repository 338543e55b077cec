import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { Failure } from '#core/failure.ts';
import { type Json, type JsonObject, parseExact } from '#core/json.ts';
import { applyJsonPatch, readPatch } from '#fhir/write/json-patch.ts';

const patched = (before: string, patch: Json) => JSON.stringify(applyJsonPatch(parseExact(before), readPatch(patch)));

/** RFC 6902, appendix A, and what it leaves to the reader. */
const cases: [name: string, before: string, patch: Json, after: string | 'invalid' | 'unprocessable'][] = [
	['adds a member', '{"a":1}', [{ op: 'add', path: '/b', value: 2 }], '{"a":1,"b":2}'],
	['adds into a list', '{"a":[1,3]}', [{ op: 'add', path: '/a/1', value: 2 }], '{"a":[1,2,3]}'],
	['adds at the end', '{"a":[1]}', [{ op: 'add', path: '/a/-', value: [2] }], '{"a":[1,[2]]}'],
	['adds over a member', '{"a":1}', [{ op: 'add', path: '/a', value: null }], '{"a":null}'],
	['removes a member', '{"a":1,"b":2}', [{ op: 'remove', path: '/a' }], '{"b":2}'],
	['removes from a list', '{"a":[1,2,3]}', [{ op: 'remove', path: '/a/1' }], '{"a":[1,3]}'],
	['replaces a member', '{"a":1}', [{ op: 'replace', path: '/a', value: 2 }], '{"a":2}'],
	['replaces the last of a list', '{"a":[1,2]}', [{ op: 'replace', path: '/a/1', value: 3 }], '{"a":[1,3]}'],
	['moves', '{"a":{"b":1},"c":{}}', [{ op: 'move', from: '/a/b', path: '/c/d' }], '{"a":{},"c":{"d":1}}'],
	['moves within a list', '{"a":[1,2,3]}', [{ op: 'move', from: '/a/0', path: '/a/2' }], '{"a":[2,3,1]}'],
	[
		'copies, and the copy is its own',
		'{"a":{"b":1}}',
		[
			{ op: 'copy', from: '/a', path: '/c' },
			{ op: 'add', path: '/c/b', value: 2 },
		],
		'{"a":{"b":1},"c":{"b":2}}',
	],
	['tests by content, not by order', '{"a":{"b":1,"c":2}}', [{ op: 'test', path: '/a', value: { c: 2, b: 1 } }], '{"a":{"b":1,"c":2}}'],
	[
		'keeps the digits of what it does not touch, and of what it copies',
		'{"a":1.50}',
		[{ op: 'copy', from: '/a', path: '/b' }],
		'{"a":1.50,"b":1.50}',
	],
	['reads ~1 and ~0', '{"a/b":{"~":1}}', [{ op: 'replace', path: '/a~1b/~0', value: 2 }], '{"a/b":{"~":2}}'],
	['replaces the whole', '{"a":1}', [{ op: 'replace', path: '', value: { b: 1 } }], '{"b":1}'],
	['does nothing', '{"a":1}', [], '{"a":1}'],
	['tests numbers by their value', '{"a":1.10E2}', [{ op: 'test', path: '/a', value: 110 }], '{"a":1.10E2}'],
	['fails at a test', '{"a":1}', [{ op: 'test', path: '/a', value: 2 }], 'unprocessable'],
	['fails at a test of a number as text', '{"a":1}', [{ op: 'test', path: '/a', value: '1' }], 'unprocessable'],
	['fails to remove what is not there', '{"a":1}', [{ op: 'remove', path: '/b' }], 'unprocessable'],
	['fails to replace what is not there', '{}', [{ op: 'replace', path: '/a', value: 1 }], 'unprocessable'],
	['fails to add below what is not there', '{}', [{ op: 'add', path: '/a/b', value: 1 }], 'unprocessable'],
	['fails to add beyond the end', '{"a":[]}', [{ op: 'add', path: '/a/1', value: 1 }], 'unprocessable'],
	['fails at a leading zero', '{"a":[1,2]}', [{ op: 'remove', path: '/a/01' }], 'unprocessable'],
	['fails at - where something has to be', '{"a":[1]}', [{ op: 'remove', path: '/a/-' }], 'unprocessable'],
	['fails below a number', '{"a":1.50}', [{ op: 'add', path: '/a/b', value: 1 }], 'unprocessable'],
	['fails to leave no resource', '{"a":1}', [{ op: 'remove', path: '' }], 'unprocessable'],
	['fails to replace the whole by a list', '{"a":1}', [{ op: 'replace', path: '', value: [] }], 'unprocessable'],
	['fails at inherited members', '{"a":1}', [{ op: 'copy', from: '/constructor', path: '/b' }], 'unprocessable'],
	['fails at __proto__', '{"a":1}', [{ op: 'add', path: '/__proto__', value: {} }], 'unprocessable'],
	['refuses to move into itself', '{"a":{}}', [{ op: 'move', from: '/a', path: '/a/b' }], 'invalid'],
	['refuses a pointer without slash', '{}', [{ op: 'add', path: 'a', value: 1 }], 'invalid'],
	['refuses a broken escape', '{}', [{ op: 'add', path: '/~2', value: 1 }], 'invalid'],
	['refuses a missing value', '{}', [{ op: 'add', path: '/a' }], 'invalid'],
	['refuses a missing from', '{}', [{ op: 'copy', path: '/a' }], 'invalid'],
	['refuses an unknown op', '{}', [{ op: 'spam', path: '/a' }], 'invalid'],
	['refuses what is no list', '{}', { op: 'remove', path: '/a' }, 'invalid'],
	['refuses what is no operation', '{}', ['remove'], 'invalid'],
	['refuses too many', '{}', Array.from({ length: 1001 }, () => ({ op: 'remove', path: '/a' })), 'invalid'],
];

describe('a JSON Patch', () => {
	for (const [name, before, patch, after] of cases) {
		test(name, () => {
			if (after === 'invalid' || after === 'unprocessable') {
				assert.throws(
					() => patched(before, patch),
					(error) => error instanceof Failure && error.code === after,
				);
				return;
			}
			assert.equal(patched(before, patch), after);
		});
	}

	test('leaves nothing on Object.prototype', () => {
		const before: JsonObject = {};
		assert.throws(() => applyJsonPatch(before, readPatch([{ op: 'add', path: '/__proto__/x', value: 1 }])), Failure);
		assert.equal(Object.hasOwn(Object.prototype, 'x'), false);
	});
});
