import assert from 'node:assert/strict';
import { globSync } from 'node:fs';
import { describe, test } from 'node:test';
import { importsOf, isPure, usesDatabase } from './imports.ts';

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
