/**
 * Runs the test suite on one embedded database: `node test/run.mjs [--update-schema] [--fuzz=<times>] [paths…]`.
 * Each test file makes databases of its own from the migrated template. Everything is removed at the end. With `--fuzz` and
 * without paths only the generative tests run; they try so many times as much as usual, from a seed that is another each time unless
 * FUZZ_SEED gives it.
 */
import { spawn } from 'node:child_process';
import { chmodSync, existsSync, globSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startEmbeddedDatabase } from '../src/storage/embedded/embedded-database.ts';
import { schemaOf } from './support/schema.ts';
import { createTemplate, templateName, urlOf } from './support/template.ts';

const given = process.argv.slice(2).filter((parameter) => parameter !== '--update-schema' && !parameter.startsWith('--fuzz='));
const fuzzTimes = Number(process.argv.find((parameter) => parameter.startsWith('--fuzz='))?.slice('--fuzz='.length) ?? 1);
if (!(fuzzTimes >= 1)) {
	console.error('--fuzz takes a number from 1 on');
	process.exit(2);
}
const missing = given.filter((path) => !existsSync(path));
if (missing.length > 0) {
	console.error(`no such file or folder: ${missing.join(', ')}`);
	process.exit(2);
}
const files = (given.length > 0 ? given : ['test'])
	.flatMap((path) => (statSync(path).isDirectory() ? globSync(`${path}/**/*.test.ts`) : [path]))
	.filter((path) => given.length > 0 || fuzzTimes === 1 || readFileSync(path, 'utf8').includes('support/fuzzing.ts'))
	.sort();

/** Whoever ends the run still gets its database ended and its files removed. */
let child;
let ending;
for (const signal of ['SIGINT', 'SIGTERM']) {
	process.on(signal, () => {
		ending = signal;
		child?.kill(signal);
	});
}

const dataDir = mkdtempSync(join(tmpdir(), 'tributary-test-'));
chmodSync(dataDir, 0o755);
const database = await startEmbeddedDatabase({
	dataDir,
	settings: { fsync: 'off', full_page_writes: 'off', max_connections: '400', shared_buffers: '128MB' },
});
let status = 1;
try {
	await createTemplate(database.url);
	if (process.argv.includes('--update-schema'))
		writeFileSync(join(import.meta.dirname, 'storage/schema.sql'), await schemaOf(urlOf(database.url, templateName)));
	status = await new Promise((resolve, reject) => {
		if (ending) return resolve(1);
		const timeout = `--test-timeout=${Math.min(180_000 * fuzzTimes, 2 ** 31 - 1)}`;
		// This reporter repeats at the end what failed, where it is found among some thousands that passed.
		const parameters = ['--import', 'tsx', '--test', '--test-reporter=spec', '--test-concurrency=2', timeout, ...files];
		child = spawn(process.execPath, parameters, {
			stdio: 'inherit',
			env: { ...process.env, TRIBUTARY_TEST_DATABASE: database.url, TRIBUTARY_FUZZ_TIMES: String(fuzzTimes) },
		});
		child.once('error', reject);
		child.once('exit', (code) => resolve(code ?? 1));
	});
} finally {
	await database.stop();
	rmSync(dataDir, { recursive: true, force: true });
}
process.exitCode = status;
