import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { fitting, formOf } from '#storage/one-row.ts';
import { plainArray, textArray } from '#storage/statement.ts';

const found = {
	name: 'find_things',
	text: 'select t.* from unnest($1::uuid[],\n\t$3::text[]) as k (site_id, value)\njoin thing t on t.site_id = k.site_id and t.value = k.value and t.at < $2::timestamptz',
};

describe('a statement for one row', () => {
	test('has parameters where the arrays were, and leaves the others', () => {
		const values = [plainArray(['a']), '2026-01-01', textArray(['x"\\\0y'])];
		const sent = fitting(found, values);
		assert.equal(sent.statement.name, 'find_things_of_one');
		assert.match(sent.statement.text, /from \(select \$1::uuid as site_id, \$3::text as value\) as k\njoin thing/);
		assert.deepEqual(sent.values, ['a', '2026-01-01', 'x"\\y']);
	});

	test('null, numbers and truth values are sent as they are in an array', () => {
		const one = { name: 'n', text: 'select from unnest($1::uuid[], $2::integer[], $3::boolean[], $4::text[]) as k (a, b, c, d)' };
		assert.deepEqual(fitting(one, [plainArray([null]), plainArray([7]), plainArray([true]), textArray([null])]).values, [
			null,
			'7',
			'true',
			null,
		]);
		assert.deepEqual(fitting(one, [plainArray(['a']), plainArray([0]), plainArray([false]), textArray([''])]).values, [
			'a',
			'0',
			'false',
			'',
		]);
	});

	test('is not used for more rows, for none, or for arrays that are no columns', () => {
		for (const values of [
			[plainArray(['a', 'b']), 'now', textArray(['x', 'y'])],
			[plainArray([]), 'now', textArray([])],
			['{a}', 'now', '{x}'],
		]) {
			assert.equal(fitting(found, values).statement, found);
			assert.equal(fitting(found, values).values, values);
		}
	});

	test('does not exist where a statement takes no rows, or two sets of them', () => {
		assert.equal(formOf({ name: 'a', text: 'select from thing where id = any ($2::uuid[])' }), null);
		assert.equal(
			formOf({ name: 'b', text: 'select from unnest($1::uuid[]) as k (a) union select from unnest($2::uuid[]) as k (a)' }),
			null,
		);
	});
});
