import assert from 'node:assert/strict';
import { globSync } from 'node:fs';
import { describe, test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { operations } from '#administration/operations/index.ts';

/** Routes of the surface itself, which are no operations. */
const others = [
	'GET /session',
	'POST /session',
	'DELETE /session',
	'PUT /session/password',
	'GET /session/ways',
	'GET /session/second-factor',
	'POST /session/second-factor',
	'PUT /session/second-factor',
	'POST /session/second-factor/recovery-codes',
	'POST /session/second-factor/remove',
	'GET /overview',
];

describe('the calls of the console', () => {
	test('are operations of the service, by method and path', async () => {
		for (const path of [...globSync('src/console/**/calls.ts'), 'src/console/session.ts']) await import(pathToFileURL(path).href);
		const { calls } = (await import(pathToFileURL('src/console/api.ts').href)) as { calls: { method: string; path: string }[] };
		const known = new Set([...operations.map(({ method, path }) => `${method} ${path}`), ...others]);
		const made = calls.map(({ method, path }) => `${method} ${path}`);
		assert.ok(made.length > 20);
		assert.deepEqual(
			made.filter((call) => !known.has(call)),
			[],
		);
	});
});
