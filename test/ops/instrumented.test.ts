import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { testService } from '#test/support/service.ts';
import { metricDefinitions } from '../../src/metrics.ts';

const source = join(import.meta.dirname, '../../src');

test('every metric of the table is measured somewhere', () => {
	const files = globSync('**/*.ts', { cwd: source }).filter((file) => !/(^|\W)metrics\.ts$/.test(file));
	const text = files.map((file) => readFileSync(join(source, file), 'utf8')).join('\n');
	const unmeasured = Object.keys(metricDefinitions).filter((name) => name !== 'buildInfo' && !new RegExp(`\\b${name}\\b`).test(text));
	assert.deepEqual(unmeasured, []);
});

test('a running node says of each shard that it takes batches', async () => {
	await using service = await testService({ WORKERS: '1' });
	const exposed = await (await fetch(`http://127.0.0.1:${service.port('ops')}/metrics`)).text();
	const shards = exposed.split('\n').filter((line) => line.startsWith('tributary_shard_available{'));
	assert.deepEqual(shards, ['tributary_shard_available{shard="0"} 1', 'tributary_shard_available{shard="1"} 1']);
	assert.match(exposed, /^tributary_database_up 1$/m);
});
