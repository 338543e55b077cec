import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, test } from 'node:test';
import type { Rule } from '#alerts/rule.ts';
import { ruleGroups } from '#alerts/rules/index.ts';
import { needs, without } from '#test/support/needs.ts';
import { promtool } from '#test/support/promtool.ts';
import { rulesText } from '../../ops/prometheus/rules-text.ts';
import { createMetrics } from '../../src/metrics.ts';
import { ruleCases, type Scene } from './rule-cases.ts';

const ops = join(import.meta.dirname, '../../ops/prometheus');
const rules = ruleGroups.flatMap((group) => group.rules);

/** Fills in labels as Prometheus does, and as a node does. */
function filledIn(text: string, labels: Readonly<Record<string, string>>, words: Rule['words'] = {}): string {
	return text.replace(/\{\{ \$labels\.(\w+) \}\}/g, (_, label: string) => {
		const value = labels[label] ?? '';
		return words[label]?.[value] ?? value;
	});
}

/** A group of tests as promtool reads it. JSON is YAML. */
function groupOf({ name, severity, summary, words, description }: Rule, { what, interval = '15s', series, at, fires = [] }: Scene): object {
	return {
		name: `${name}: ${what}`,
		interval,
		input_series: Object.entries(series).map(([text, values]) => ({ series: text, values })),
		alert_rule_test: [
			{
				eval_time: at,
				alertname: name,
				exp_alerts: fires.map((labels) => ({
					exp_labels: { ...labels, severity },
					exp_annotations: { summary: filledIn(summary, labels, words), description: filledIn(description, labels) },
				})),
			},
		],
	};
}

const folder = mkdtempSync(join(tmpdir(), 'tributary-rules-'));
after(() => rmSync(folder, { recursive: true, force: true }));

describe('the rules', () => {
	test('are each tested on what they fire at and on what they do not', () => {
		assert.deepEqual(Object.keys(ruleCases).sort(), rules.map(({ name }) => name).sort());
		for (const [name, scenes] of Object.entries(ruleCases)) {
			assert.ok(
				scenes.some(({ fires }) => fires !== undefined),
				`${name} fires`,
			);
			assert.ok(
				scenes.some(({ fires }) => fires === undefined),
				`${name} does not`,
			);
		}
	});

	test('fire on the first event or at their threshold, and not beside it', { skip: without('promtool') }, () => {
		// A file for each rule, because promtool evaluates all rules of a file at every step.
		const files = rules.map((rule) => {
			const [ruleFile, file] = [join(folder, `${rule.name}.yml`), join(folder, `${rule.name}-tests.yml`)];
			writeFileSync(ruleFile, rulesText([{ name: 'one', rules: [rule] }]));
			const scenes = ruleCases[rule.name] ?? [];
			const interval = scenes.find((scene) => scene.interval !== undefined)?.interval ?? '15s';
			const tests = scenes.map((scene) => groupOf(rule, scene));
			writeFileSync(file, JSON.stringify({ rule_files: [ruleFile], evaluation_interval: interval, tests }));
			return file;
		});
		const { code, text } = promtool(['test', 'rules', ...files]);
		assert.equal(code, 0, text);
	});

	test('and the scrape configuration are valid', { skip: without('promtool') }, () => {
		const { code, text } = promtool(['check', 'config', join(ops, 'prometheus.yml')]);
		assert.equal(code, 0, text);
	});

	for (const [what, path] of [
		['an example of Alertmanager', join(ops, 'alertmanager.yml')],
		['the Alertmanager of compose', join(ops, '../alertmanager/alertmanager.yml')],
	] as const) {
		test(`reach people by ${what}, whose configuration is valid`, { skip: without('amtool') }, () => {
			const { status, stdout, stderr } = spawnSync(needs.amtool.found ?? '', ['check-config', path], { encoding: 'utf8' });
			assert.equal(status, 0, `${stdout}${stderr}`);
		});
	}

	test('that look at growth look at counters that begin with 0, so that their first event counts', async () => {
		const metrics = createMetrics({ processMetrics: false });
		metrics.begin({ site: 'north' });
		const { body } = await metrics.exposition('text');
		const series = body.split('\n').filter((line) => /^tributary_/.test(line) && line.endsWith(' 0'));
		// A rule about a share of requests lasts for minutes, and looks at rates only. Routes are too many to begin with.
		const byRoute = 'tributary_http_requests_total';
		for (const { name, text } of rules) {
			for (const [, metric = '', , selector = ''] of text.matchAll(/(?:increase|rate)\((tributary_\w+)(\{([^}]*)\})?/g)) {
				if (metric === byRoute) continue;
				const wanted = [...selector.matchAll(/(\w+)(=~|!=|=)"([^"]*)"/g)];
				const held = series.filter((line) =>
					line.startsWith(`${metric}{`) || line.startsWith(`${metric} `)
						? wanted.every(([, label, operator, value = '']) => {
								const [, found = ''] = new RegExp(`[{,]${label}="([^"]*)"`).exec(line) ?? [];
								return new RegExp(`^(?:${value})$`).test(found) === (operator !== '!=');
							})
						: false,
				);
				assert.ok(held.length > 0, `${name}: ${metric}{${selector}}`);
			}
		}
	});

	test('have a runbook each in the documentation, under their name', () => {
		const document = readFileSync(join(ops, '../../docs/operations.md'), 'utf8');
		for (const { name } of rules) assert.ok(document.includes(`\n### ${name}\n\n`), name);
	});
});
