import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, test } from 'node:test';
import { evaluate, metricsOf, parseExpression } from '#alerts/expression.ts';
import { Alerts } from '#alerts/judged.ts';
import { MetricHistory } from '#alerts/metric-history.ts';
import { alertRules, ruleGroups } from '#alerts/rules/index.ts';
import { rulesText, runbookText } from '../../ops/prometheus/rules-text.ts';
import { createMetrics } from '../../src/metrics.ts';

const minute = 60_000;

describe('the alerts of the console', () => {
	test('and ops/prometheus/rules.yml come from one table', () => {
		assert.equal(readFileSync(new URL('../../ops/prometheus/rules.yml', import.meta.url), 'utf8'), rulesText());
	});

	test('and their chapter in docs/operations.md too: what to do stands once', () => {
		const document = readFileSync(new URL('../../docs/operations.md', import.meta.url), 'utf8');
		assert.equal(document.slice(document.indexOf('## Alerts\n')), runbookText());
	});

	test('are all but those that a node cannot judge', () => {
		const judged = new Set(alertRules.map(({ name }) => name));
		const all = ruleGroups.flatMap(({ rules }) => rules.map(({ name }) => name));
		assert.deepEqual(
			all.filter((name) => !judged.has(name)),
			['TributaryDown', 'TributaryStandbyLost', 'TributarySiteSilent'],
		);
		assert.equal(new Set(all).size, all.length);
	});

	test('what is beyond the part of PromQL that is understood is not taken', () => {
		for (const text of [
			'up',
			'avg by (x) (y) > 1',
			'sum by (x) (y) > 1 and z > 2',
			'rate(x[5m]) != 1',
			'increase(x[5y]) > 1',
			'a > 1 offset 2h',
		])
			assert.throws(() => parseExpression(text), Error, text);
	});
});

/** Metrics of their own, looked at every ten seconds. */
function observed(text: string) {
	const metrics = createMetrics({ processMetrics: false });
	const expression = parseExpression(text);
	const history = new MetricHistory(metrics.registry, metricsOf(expression), 60 * minute);
	const clock = { ms: 0 };
	const look = async (times = 1) => {
		for (let time = 0; time < times; time++) {
			clock.ms += 10_000;
			history.take(clock.ms, await metrics.snapshot(history.metrics));
		}
	};
	return { metrics, look, history, clock, holds: () => evaluate(expression, history) };
}

test('a summary may begin a sentence: no name of a node becomes another one by a capital letter', () => {
	assert.deepEqual(
		ruleGroups.flatMap(({ rules }) => rules.map(({ summary }) => summary)).filter((summary) => summary.startsWith('{{ $labels.instance')),
		[],
	);
});

describe('an expression', () => {
	test('of a gauge holds for its labels', async () => {
		const { metrics, look, holds } = observed('tributary_shard_available == 0');
		metrics.shardAvailable.set({ shard: '0' }, 1);
		metrics.shardAvailable.set({ shard: '1' }, 0);
		await look();
		assert.deepEqual(holds(), [{ labels: { shard: '1' }, value: 0 }]);
	});

	test('of an increase counts within its window, what was there before the first look not', async () => {
		const { metrics, look, holds } = observed('increase(tributary_worker_restarts_total[15m]) > 3');
		metrics.workerRestarts.inc(100);
		await look();
		assert.deepEqual(holds(), []);
		metrics.workerRestarts.inc(4);
		await look();
		assert.deepEqual(holds(), [{ labels: {}, value: 4 }]);
		await look(89);
		assert.equal(holds().length, 1);
		await look();
		assert.deepEqual(holds(), []);
	});

	test('of a ratio is judged site by site', async () => {
		const rule = ruleGroups.flatMap(({ rules }) => rules).find(({ name }) => name === 'TributaryRefusalsHigh');
		const { metrics, look, holds } = observed(rule?.text ?? '');
		await look();
		metrics.siteMessages.inc({ site: 'north', outcome: 'accepted' }, 79);
		metrics.siteMessages.inc({ site: 'north', outcome: 'refused' }, 21);
		metrics.siteMessages.inc({ site: 'south', outcome: 'accepted' }, 81);
		metrics.siteMessages.inc({ site: 'south', outcome: 'refused' }, 19);
		metrics.siteMessages.inc({ site: 'west', outcome: 'accepted' }, 5);
		await look();
		assert.deepEqual(
			holds().map(({ labels, value }) => [labels, value.toFixed(6)]),
			[[{ site: 'north' }, '0.210000']],
		);
	});

	test('of a quantile is interpolated as Prometheus does', async () => {
		const { metrics, look, holds } = observed(
			'histogram_quantile(0.5, sum by (le, instance, surface) (rate(tributary_hl7_acknowledgement_seconds_bucket[5m]))) > 2',
		);
		await look();
		for (let time = 0; time < 10; time++) metrics.acknowledgementSeconds.observe({ surface: 'mllp' }, 4);
		metrics.acknowledgementSeconds.observe({ surface: 'hl7-http' }, 0.001);
		await look();
		const [sample, ...others] = holds();
		assert.deepEqual([sample?.labels, others], [{ surface: 'mllp' }, []]);
		// Half way from 2.5 s to 5 s.
		assert.ok(Math.abs((sample?.value ?? 0) - 3.75) < 1e-9, String(sample?.value));
	});

	test('of a minimum needs every look of the window', async () => {
		const { metrics, look, holds } = observed('min_over_time(tributary_mailbox_messages[10m]) > 500');
		metrics.mailboxMessages.set(10);
		await look();
		metrics.mailboxMessages.set(600);
		await look(59);
		assert.deepEqual(holds(), []);
		await look();
		assert.equal(holds().length, 1);
	});

	test('takes labels by what they are, are not, and are like', async () => {
		const { metrics, look, history } = observed(
			'sum by (result) (increase(tributary_mllp_connections_total{result=~"refused-.*"}[10m])) > 0',
		);
		await look();
		metrics.mllpConnectionsOpened.inc({ result: 'accepted' });
		metrics.mllpConnectionsOpened.inc({ result: 'refused-limit' }, 2);
		await look();
		const of = (matcher: string) => evaluate(parseExpression(`increase(tributary_mllp_connections_total{${matcher}}[10m]) > 0`), history);
		assert.deepEqual(
			of('result=~"refused-.*"').map(({ value }) => value),
			[2],
		);
		assert.deepEqual(
			of('result!="accepted"').map(({ value }) => value),
			[2],
		);
		assert.deepEqual(
			of('result="accepted", job="tributary"').map(({ value }) => value),
			[1],
		);
	});
});

describe('an alert', () => {
	test('fires when it has held for as long as its rule asks, since when it began, and ends at once', async () => {
		const { metrics, look, history, clock } = observed('tributary_database_up == 0');
		const alerts = new Alerts(
			alertRules.filter(({ name }) => name === 'TributaryDatabaseDown'),
			'node-1',
		);
		const turn = async () => {
			await look();
			alerts.judge(history, clock.ms);
			return alerts.firing(clock.ms);
		};
		metrics.databaseUp.set(1);
		assert.deepEqual(await turn(), []);
		metrics.databaseUp.set(0);
		for (let time = 0; time < 3; time++) assert.deepEqual(await turn(), []);
		assert.deepEqual(await turn(), [
			{
				key: 'TributaryDatabaseDown {}',
				name: 'TributaryDatabaseDown',
				sinceMs: 20_000,
				summary: 'node node-1 has no database',
				severity: 'critical',
				site: undefined,
				ofNetwork: false,
				list: undefined,
			},
		]);
		metrics.databaseUp.set(1);
		assert.deepEqual(await turn(), []);
	});
});
