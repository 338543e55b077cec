import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { test } from 'node:test';

const script = `
	const { logForeignLines } = await import('#core/foreign-lines.ts');
	const { createLog } = await import('#core/log.ts');
	logForeignLines(createLog('info'));
	process.emitWarning('a timer was set too long', { type: 'TimeoutOverflowWarning', code: 'TRIB001' });
	console.warn('Doe^John cannot be read', { patient: '4711' });
	console.log('Doe^John');
	console.debug('Doe^John');
`;

test('warnings of Node.js and what libraries write to the console are lines of the log, without what a library quotes', () => {
	const { status, stdout, stderr } = spawnSync(process.execPath, ['--input-type=module', '--eval', script], {
		cwd: join(import.meta.dirname, '../..'),
		encoding: 'utf8',
		timeout: 60_000,
	});
	assert.deepEqual({ status, stderr }, { status: 0, stderr: '' });
	assert.doesNotMatch(stdout, /Doe|4711/);
	const lines = stdout
		.trim()
		.split('\n')
		.map((line) => JSON.parse(line));
	assert.deepEqual(
		lines.map(({ level, method, warning, code, text }) => ({ level, method, warning, code, text })),
		[
			{ level: 'warn', method: 'warn' },
			{ level: 'info', method: 'log' },
			{ level: 'warn', warning: 'TimeoutOverflowWarning', code: 'TRIB001', text: 'a timer was set too long' },
		].map((line) => ({ method: undefined, warning: undefined, code: undefined, text: undefined, ...line })),
	);
});
