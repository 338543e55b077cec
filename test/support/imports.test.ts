import assert from 'node:assert/strict';
import { globSync } from 'node:fs';
import { describe, test } from 'node:test';
import { circlesOf, importsOf, isPure, usesDatabase } from './imports.ts';

describe('what a test file needs is read from its imports', () => {
	const cases: [string, { database: boolean; pure: boolean }][] = [
		['test/core/address.test.ts', { database: false, pure: true }],
		['test/support/imports.test.ts', { database: false, pure: true }],
		['test/surfaces/mllp/wire.test.ts', { database: false, pure: true }],
		['test/storage/embedded/embedded-database.test.ts', { database: false, pure: false }],
		['test/integrity/kill.test.ts', { database: false, pure: false }],
		['test/storage/migrate.test.ts', { database: true, pure: false }],
		['test/integrity/failures.test.ts', { database: true, pure: false }],
		['test/console/every-screen.ts', { database: true, pure: false }],
	];
	for (const [path, { database, pure }] of cases) {
		test(`${path}: ${database ? 'the database of the runner' : pure ? 'nothing' : 'a server of its own'}`, () => {
			assert.deepEqual([usesDatabase(path), isPure(path)], [database, pure]);
		});
	}

	test('at least half of the files need no database', () => {
		const files = globSync('test/**/*.test.ts');
		assert.ok(files.filter(isPure).length >= files.length / 2);
	});

	test('an import of types loads nothing', () => {
		const types = importsOf('test/support/summary.ts').map(({ specifier, isType }) => [specifier, isType]);
		assert.deepEqual(types, [
			['./needs.ts', false],
			['./outcomes.ts', true],
		]);
	});
});

describe('circles of imports', () => {
	const cases: [string, string[]][] = [
		['a>b b>c', []],
		['a>b b>a', ['a b']],
		['a>b b>c c>a c>d', ['a b c']],
		['a>b b>a c>d d>c b>c', ['a b', 'c d']],
		['a>b a>c b>d c>d', []],
		['a>b b>c c>b d>a', ['b c']],
		['a>b b>c c>d d>b c>a', ['a b c d']],
	];
	for (const [edges, expected] of cases) {
		test(`${edges}: ${expected.length === 0 ? 'none' : expected.join('; ')}`, () => {
			const imports = edges.split(' ').flatMap((edge) => {
				const [from = '', to = ''] = edge.split('>');
				// A file without imports is a file, too.
				return [
					{ from, to, specifier: to, isType: true },
					{ from: to, to: undefined, specifier: 'node:fs', isType: false },
				];
			});
			assert.deepEqual(
				circlesOf(imports).map((circle) => circle.join(' ')),
				expected,
			);
		});
	}
});
