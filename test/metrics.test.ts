import { strict as assert } from 'node:assert';
import { describe, test } from 'node:test';
import type { MetricDefinition } from '#core/metric-definition.ts';
import { createMetrics, metricDefinitions } from '../src/metrics.ts';

const definitions: MetricDefinition[] = Object.values(metricDefinitions);

describe('the metric table', () => {
	test('names carry the unit, and only counters end in _total', () => {
		for (const { name, kind } of definitions) {
			assert.match(name, /^tributary_[a-z0-9]+(_[a-z0-9]+)*$/);
			assert.equal(name.endsWith('_total'), kind === 'counter', name);
			if (kind === 'histogram') assert.match(name, /_(seconds|bytes|messages)$/);
			assert.doesNotMatch(name, /_(ms|milliseconds|kb|mb|minutes|count|sum|bucket)(_|$)/);
		}
		assert.equal(new Set(definitions.map(({ name }) => name)).size, definitions.length);
	});

	test('histograms have rising buckets and no site label', () => {
		for (const { name, kind, labels, buckets } of definitions) {
			assert.equal(buckets !== undefined, kind === 'histogram', name);
			if (buckets === undefined) continue;
			assert.deepEqual(
				[...buckets],
				[...new Set(buckets)].sort((a, b) => a - b),
				name,
			);
			assert.equal('site' in labels, false, name);
		}
	});

	test('every label has a closed list of values or says what bounds it', () => {
		for (const { name, labels } of definitions) {
			for (const [label, domain] of Object.entries(labels)) {
				if ('boundedBy' in domain) assert.notEqual(domain.boundedBy, '');
				else assert.equal(new Set(domain).size, domain.length, `${name} ${label}`);
			}
		}
	});

	test('every metric of the table is exposed with its help and type', async () => {
		const { body, contentType } = await createMetrics({ processMetrics: false }).exposition('text');
		assert.match(contentType, /^text\/plain; version=0\.0\.4/);
		for (const { name, kind } of definitions) assert.ok(body.includes(`# TYPE ${name} ${kind}\n`), name);
	});
});

describe('the exposition', () => {
	test('OpenMetrics names a counter family without _total and its samples with it', async () => {
		const metrics = createMetrics({ version: '1.2.3' });
		metrics.hl7Messages.inc({ surface: 'mllp', type: 'ADT^A08', outcome: 'accepted' }, 2);
		const { body, contentType } = await metrics.exposition('openmetrics');
		assert.match(contentType, /^application\/openmetrics-text/);
		assert.match(body, /^# TYPE tributary_hl7_messages counter$/m);
		assert.match(body, /^tributary_hl7_messages_total\{surface="mllp",type="ADT\^A08",outcome="accepted"\} 2$/m);
		assert.match(body, /^tributary_build_info\{version="1\.2\.3",node="v\d/m);
		assert.match(body, /\n# EOF\n$/);
		assert.doesNotMatch(body, /\n\n/);
	});

	test('a plain scrape after an OpenMetrics scrape keeps the counter names', async () => {
		const metrics = createMetrics({ processMetrics: false });
		metrics.mllpFrames.inc();
		await metrics.exposition('openmetrics');
		assert.match((await metrics.exposition('text')).body, /^tributary_mllp_frames_total 1$/m);
	});

	test('process metrics keep the names that prom-client gives them', async () => {
		const { body } = await createMetrics().exposition('text');
		assert.match(body, /^# TYPE nodejs_eventloop_lag_seconds gauge$/m);
		assert.match(body, /^# TYPE process_resident_memory_bytes gauge$/m);
	});

	test('gauges that are sampled are set before each exposition', async () => {
		const metrics = createMetrics({ processMetrics: false });
		let depth = 3;
		metrics.beforeCollect(() => metrics.mailboxMessages.set(depth));
		assert.match((await metrics.exposition('text')).body, /^tributary_mailbox_messages 3$/m);
		depth = 0;
		assert.match((await metrics.exposition('text')).body, /^tributary_mailbox_messages 0$/m);
	});

	test('two sets of metrics do not share their values', async () => {
		const one = createMetrics({ processMetrics: false });
		const other = createMetrics({ processMetrics: false });
		one.mllpFrames.inc(5);
		assert.match((await other.exposition('text')).body, /^tributary_mllp_frames_total 0$/m);
	});
});
