import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { adt } from '#test/support/adt.ts';
import { MllpClient, msa } from '#test/support/mllp-client.ts';
import { without } from '#test/support/needs.ts';
import { promtool } from '#test/support/promtool.ts';
import { eventually, testService } from '#test/support/service.ts';
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

test('what counts is there with 0 before its first event, of a new site too; promtool has nothing against the metrics', async (t) => {
	await using service = await testService();
	const exposed = async () => (await fetch(`http://127.0.0.1:${service.port('ops')}/metrics`)).text();
	assert.match(await exposed(), /^tributary_unmatched_messages_total\{reason="no-sender",result="logged"\} 0$/m);
	await service.addSite('north', { sending_application: 'ADT' });
	assert.match(await exposed(), /^tributary_site_messages_total\{site="north",outcome="refused"\} 0$/m);
	const sender = await MllpClient.connect(service.port('mllp'));
	assert.equal(msa(await sender.send(adt('known', 'FEED', 1))).code, 'AA');
	assert.equal(msa(await sender.send(adt('unmatched', 'FEED', 1).replace('|ADT|', '|OTHER|'))).code, 'AE');
	sender.close();
	await eventually(
		async () => /^tributary_feed_messages_total\{site="north",feed="[0-9a-f-]{36}",outcome="taken"\} 1$/m.test(await exposed()),
		'the metrics of the feed',
	);
	const text = await exposed();
	assert.match(text, /^tributary_unmatched_messages_total\{reason="no-sender",result="logged"\} 1$/m);
	if (without('promtool')) return t.diagnostic(String(without('promtool')));
	assert.deepEqual(promtool(['check', 'metrics'], text), { code: 0, text: '' });
});
