import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { MetricSnapshot } from '#core/metric-snapshot.ts';
import { NodeMetrics } from '#processes/node-metrics.ts';

const of = (name: string, type: string, value: number, across: MetricSnapshot['across'] = 'sum'): MetricSnapshot => ({
	name,
	help: '',
	type,
	values: [{ value, labels: {} }],
	across,
});

const valueIn = (metrics: readonly MetricSnapshot[], name: string) => metrics.find((metric) => metric.name === name)?.values[0]?.value;

test('what an ended process counted stays counted, what it held is gone, and what is about it goes with it', () => {
	const node = new NodeMetrics();
	const [first, second, third] = [{}, {}, {}];
	node.note(first, '0', [of('counted', 'counter', 5), of('held', 'gauge', 3), of('process_cpu', 'counter', 9, 'process')]);
	node.note(second, '1', [of('counted', 'counter', 7), of('held', 'gauge', 1)]);
	assert.deepEqual([valueIn(node.all(), 'counted'), valueIn(node.all(), 'held')], [12, 4]);
	node.end(first);
	assert.deepEqual([valueIn(node.all(), 'counted'), valueIn(node.all(), 'held')], [12, 1]);
	assert.equal(valueIn(node.all(), 'process_cpu'), undefined);
	node.note(third, '0', [of('counted', 'counter', 1), of('held', 'gauge', 0)]);
	node.end(second);
	assert.deepEqual([valueIn(node.all(), 'counted'), valueIn(node.all(), 'held')], [13, 0]);
	assert.deepEqual(
		node.all(['counted']).map(({ name }) => name),
		['counted'],
	);
});
