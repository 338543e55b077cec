import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { forPeople } from '#cli/print.ts';

describe('what people read', () => {
	test('nested values are words, not JSON', () => {
		const shown = forPeople({
			id: 'a',
			names: [{ family: 'Rivers', given: ['Alba', 'Mia'] }, { family: 'Stone' }],
			period: { start: '2026-01-01', end: null },
			tags: ['one', 'two'],
			none: [],
			settings: { also: { value: ['A03'], from: 'site' } },
		});
		assert.equal(
			shown,
			[
				'id    a',
				'names',
				'  - family  Rivers',
				'    given   Alba, Mia',
				'  - family  Stone',
				'period',
				'  start  2026-01-01',
				'  end    -',
				'tags  one, two',
				'none  -',
				'settings',
				'  also  A03 (site)',
				'',
			].join('\n'),
		);
		assert.doesNotMatch(forPeople([{ id: 'a', cause: { code: 'required', client: null, at: { field: 'PID-3' } } }]), /[{}"]/);
		assert.match(forPeople([{ id: 'a', cause: { code: 'required', client: null } }]), /^a +code required$/m);
	});

	test('a narrow table wraps texts at blanks, leaves out empty columns first and then the last ones', () => {
		const rows = [{ id: 'a', empty: null, text: 'a sentence of some words that is long', last: 'x'.repeat(30) }];
		assert.equal(
			forPeople(rows, { columns: 40 }),
			[
				'id  text               last',
				'a   a sentence of      xxxxxxxxxxxxxxxxx',
				'    some words that    xxxxxxxxxxxxx',
				'    is long',
				'not shown, for lack of room: empty (all of it: --wide or --json)',
				'',
			].join('\n'),
		);
		assert.equal(forPeople(rows, { columns: 400 }), forPeople(rows));
		assert.match(forPeople(rows, { columns: 20 }), /not shown, for lack of room: empty, last /);
	});
});
