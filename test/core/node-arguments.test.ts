import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Worker } from 'node:worker_threads';
import { processArguments, threadArguments } from '#core/node-arguments.ts';

const given = [
	...['--max-old-space-size=700', '--import', 'data:text/javascript,', '--use-openssl-ca', '--inspect=127.0.0.1:0'],
	...['--require=node:fs', '-C', 'development', '--test-concurrency=4', '--no-warnings'],
];

test('a thread has the arguments by which modules are read, and begins with them', async () => {
	const arguments_ = threadArguments(given);
	assert.deepEqual(arguments_, ['--import', 'data:text/javascript,', '--require=node:fs', '-C', 'development']);
	const begun = (execArgv: string[]) => new Worker('', { eval: true, execArgv });
	assert.throws(() => begun(given), { code: 'ERR_WORKER_INVALID_EXEC_ARGV' });
	const thread = begun(arguments_);
	await new Promise((resolve, reject) => thread.once('exit', resolve).once('error', reject));
});

test('another process of the node has those that hold for a process', () => {
	assert.deepEqual(processArguments(given), ['--max-old-space-size=700', '--use-openssl-ca', '--no-warnings']);
});
