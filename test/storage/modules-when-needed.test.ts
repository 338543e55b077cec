import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { test } from 'node:test';
import { promisify } from 'node:util';

const root = join(import.meta.dirname, '../..');

/** Prints the addresses of all modules that the service and a worker load before anybody asks for anything. */
const loaded = `
	import module from 'node:module';
	const urls = [];
	await import('./src/stripping.mjs');
	module.registerHooks({ load: (url, context, next) => { urls.push(url); return next(url, context); } });
	await import('./src/service.ts');
	await import('./src/ingest/worker.ts');
	process.stdout.write(JSON.stringify(urls));
	process.exit(0);
`;

test('what a node needs only at times is not loaded before: most of the ORM, and the definitions of profiles', async () => {
	const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '--eval', loaded], {
		cwd: root,
		maxBuffer: 16 * 1024 * 1024,
	});
	const urls: string[] = JSON.parse(stdout);
	const of = (part: string) => urls.filter((url) => url.includes(part));
	assert.notDeepEqual(of('/src/storage/entities/site.ts'), [], 'the modules of the product are among them');
	for (const part of ['@mikro-orm/postgresql', '@mikro-orm/sql', '@mikro-orm/migrations', '/kysely/', '/migrations/0', '/bundled/'])
		assert.deepEqual(of(part), [], part);
});
