import { strict as assert } from 'node:assert';
import { globSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import type { MetricDefinition } from '#core/metric-definition.ts';
import { createMetrics, metricDefinitions } from '../../src/metrics.ts';

const read = (path: string) => readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8');
const root = fileURLToPath(new URL('../..', import.meta.url));
const table = new Map<string, MetricDefinition>(Object.values(metricDefinitions).map((definition) => [definition.name, definition]));
const registered = new Map(
	createMetrics()
		.registry.getMetricsAsArray()
		.map((metric) => [metric.name, metric]),
);
const everywhere = new Set(['instance', 'job']);

/** The metric of a series: a histogram's `_bucket`, `_sum` and `_count` belong to it. */
function metricOf(series: string): string | undefined {
	if (series === 'up' || registered.has(series)) return series;
	const base = series.replace(/_(bucket|sum|count)$/, '');
	return table.get(base)?.kind === 'histogram' && base !== series ? base : undefined;
}

function labelsOf(metric: string): ReadonlySet<string> {
	return new Set([...Object.keys(table.get(metric)?.labels ?? {}), ...everywhere]);
}

/** What is wrong with an expression: series, labels and label values that the metric table does not know. */
function faultsOf(expression: string): string[] {
	const faults: string[] = [];
	const metrics = new Set<string>();
	for (const [, series = '', , selector = ''] of expression.matchAll(/\b((?:tributary|nodejs|process)_\w+|up)\b(\{([^}]*)\})?/g)) {
		const metric = metricOf(series);
		if (metric === undefined) faults.push(`unknown series ${series}`);
		else if (table.get(metric)?.kind === 'histogram' && metric === series) faults.push(`histogram ${series} without suffix`);
		if (metric === undefined) continue;
		metrics.add(metric);
		for (const [, label = '', , operator, value = ''] of selector.matchAll(/((\w+))\s*(=~|!~|!=|=)\s*"([^"]*)"/g)) {
			const domain = table.get(metric)?.labels[label];
			if (!labelsOf(metric).has(label)) faults.push(`${metric} has no label ${label}`);
			else if (operator === '=' && Array.isArray(domain) && !domain.includes(value)) faults.push(`${metric} has no ${label}="${value}"`);
		}
	}
	if (metrics.size === 0 && faults.length === 0) faults.push('names no metric');
	for (const [, list = ''] of expression.matchAll(/\bby \(([^)]*)\)/g)) {
		for (const label of list.split(',').map((entry) => entry.trim())) {
			const known = [...metrics].some(
				(metric) => labelsOf(metric).has(label) || (label === 'le' && table.get(metric)?.kind === 'histogram'),
			);
			if (!known) faults.push(`by (${label}): no metric of the expression has it`);
		}
	}
	return faults;
}

interface Panel {
	title: string;
	type: string;
	targets?: { expr: string; legendFormat: string }[];
}

interface Dashboard {
	uid: string;
	panels: Panel[];
	templating: { list: { definition?: string }[] };
}

const dashboards = readdirSync(new URL('../../ops/grafana', import.meta.url)).map(
	(file): Dashboard => JSON.parse(read(`ops/grafana/${file}`)),
);
const panels = dashboards.flatMap((dashboard) => dashboard.panels);
const rules = read('ops/prometheus/rules.yml');
const alerts = rules
	.split(/^ {6}- alert: /m)
	.slice(1)
	.map((text) => ({
		name: text.slice(0, text.indexOf('\n')),
		text,
		expression: /^ {8}expr: (['"])(.*)\1$/m.exec(text)?.[2]?.replaceAll("''", "'") ?? '',
	}));

describe('the check of expressions', () => {
	test('finds series, labels and values that do not exist', () => {
		assert.deepEqual(faultsOf('rate(tributary_hl7_messages_total{outcome="refused"}[5m])'), []);
		assert.deepEqual(faultsOf('tributary_no_such_total'), ['unknown series tributary_no_such_total']);
		assert.deepEqual(faultsOf('tributary_hl7_messages_total{outcom="refused"}'), ['tributary_hl7_messages_total has no label outcom']);
		assert.deepEqual(faultsOf('tributary_hl7_messages_total{outcome="lost"}'), ['tributary_hl7_messages_total has no outcome="lost"']);
		assert.deepEqual(faultsOf('sum by (site) (tributary_hl7_messages_total)'), ['by (site): no metric of the expression has it']);
		assert.deepEqual(faultsOf('tributary_http_request_seconds'), ['histogram tributary_http_request_seconds without suffix']);
		assert.deepEqual(faultsOf('vector(0)'), ['names no metric']);
	});
});

describe('the dashboards', () => {
	test('are four, each with an address of its own', () => {
		assert.deepEqual(dashboards.map(({ uid }) => uid).sort(), ['tributary', 'tributary-database', 'tributary-sites', 'tributary-surfaces']);
	});

	test('names only metrics, labels and values of the table', () => {
		const expressions = panels.flatMap(({ title, targets = [] }) => targets.map(({ expr }) => ({ title, expr })));
		assert.ok(expressions.length > 30);
		for (const { title, expr } of expressions) assert.deepEqual(faultsOf(expr), [], `${title}: ${expr}`);
	});

	test('its legends and variables name labels that the series have', () => {
		for (const { title, targets = [] } of panels) {
			for (const { expr, legendFormat } of targets) {
				for (const [, label = ''] of legendFormat.matchAll(/\{\{(\w+)\}\}/g))
					assert.match(expr, new RegExp(`\\b${label}\\b|^[a-z_]+\\{`), title);
			}
		}
		for (const { definition } of dashboards.flatMap(({ templating }) => templating.list)) {
			const [, metric = '', label = ''] = /^label_values\((\w+), (\w+)\)$/.exec(definition ?? '') ?? [];
			if (definition !== undefined) assert.ok(table.has(metric) && labelsOf(metric).has(label), definition);
		}
	});

	test('shows every metric of the table', () => {
		const text = JSON.stringify(dashboards);
		for (const name of table.keys()) assert.ok(text.includes(name), name);
	});
});

describe('the alerts', () => {
	test('name only metrics, labels and values of the table', () => {
		assert.equal(alerts.length, (rules.match(/^\s*- alert:/gm) ?? []).length);
		assert.ok(alerts.length > 0);
		for (const { name, expression } of alerts) assert.deepEqual(faultsOf(expression), [], `${name}: ${expression}`);
	});

	test('have a severity, a duration, a summary and a description, and only labels that their expression gives', () => {
		for (const { name, text, expression } of alerts) {
			assert.match(text, /^ {8}for: \d+[smh]$/m, name);
			assert.match(text, /^ {10}severity: (critical|warning|info)$/m, name);
			assert.match(text, /^ {10}summary: (['"]).+\1$/m, name);
			assert.match(text, /^ {10}description: (['"]).+\1$/m, name);
			const aggregated = /\bby \(([^)]*)\)/.exec(expression)?.[1]?.split(', ');
			const metric = metricOf(/\b(tributary|nodejs)_\w+|\bup\b/.exec(expression)?.[0] ?? '') ?? '';
			const given = aggregated === undefined ? labelsOf(metric) : new Set(aggregated);
			for (const [, label = ''] of text.matchAll(/\$labels\.(\w+)/g)) assert.ok(given.has(label), `${name}: ${label}`);
		}
	});

	test('are explained in the documentation, and no others are', () => {
		const explained = [...read('docs/operations.md').matchAll(/^### (Tributary\w+)$/gm)].map(([, name]) => name);
		assert.deepEqual(
			explained,
			alerts.map(({ name }) => name),
		);
	});
});

/** The label column of the documentation: up to eight values are listed. */
function labelCell({ labels }: MetricDefinition): string {
	const cells = Object.entries(labels).map(([label, domain]) => {
		if ('boundedBy' in domain) return `${label} (${domain.boundedBy})`;
		return domain.length > 8 ? label : `${label}: ${domain.join(', ')}`;
	});
	return cells.join('; ') || '–';
}

describe('the documentation', () => {
	test('lists every metric of the table with its kind, labels and meaning, and no others; `UPDATE_CONFORMANCE=1` writes the meanings', () => {
		if (process.env['UPDATE_CONFORMANCE'] === '1') writeMeanings();
		const rows = [...read('docs/operations.md').matchAll(/^\| `(tributary_\w+)`\s*\| (\w+)\s*\| (.*?)\s*\| (.*?)\s*\|$/gm)];
		assert.deepEqual(
			rows.map(([, name, kind, labels, help]) => ({ name, kind, labels, help })),
			[...table.values()].map((definition) => ({
				name: definition.name,
				kind: definition.kind,
				labels: labelCell(definition),
				help: definition.help,
			})),
		);
	});
});

/** The sections of a document, each with the lines that its readers are to paste or to write into a file. Drawings and formulas are `text`. */
function sectionsOf(document: string): { heading: string; text: string; lines: string[] }[] {
	// A comment in a block may look like a heading.
	const blocks: string[] = [];
	const folded = document.replace(/^```(\w*)\n([\s\S]*?)^```$/gm, (_, language: string, lines: string) => {
		if (language !== 'text' && language !== 'json') blocks.push(lines);
		return language === 'text' || language === 'json' ? '' : `<block ${blocks.length - 1}>`;
	});
	return folded.split(/^(?=#+ )/m).map((text) => ({
		heading: text.split('\n')[0] ?? '',
		text,
		lines: [...text.matchAll(/<block (\d+)>/g)].map(([, index]) => blocks[Number(index)] ?? ''),
	}));
}

describe('the documentation of operations', () => {
	for (const path of ['docs/operations.md', 'docs/cluster.md', 'docs/scaling.md']) {
		test(`${path} says of all its lines whether a test runs them, and names tests that exist`, () => {
			const sections = sectionsOf(read(path));
			const unmarked = sections.filter(({ text, lines }) => lines.length > 0 && !/\*\*(?:Run|Not run|not run)\*\*/.test(text));
			assert.deepEqual(
				unmarked.map(({ heading }) => heading),
				[],
			);
			const { scripts } = JSON.parse(read('package.json')) as { scripts: Record<string, string> };
			const missing = sections.flatMap(({ text }) => [
				...[...text.matchAll(/`(test\/[\w/.*-]+\.ts)`/g)].flatMap(([, name = '']) =>
					globSync(name, { cwd: root }).length > 0 ? [] : [name],
				),
				...[...text.matchAll(/npm run (?:-s )?([\w:]+)/g)].flatMap(([, name = '']) => (name in scripts ? [] : [name])),
			]);
			assert.deepEqual(missing, []);
		});
	}
});

/** Writes what each metric means into its row of the document. */
function writeMeanings(): void {
	const meanings = new Map([...table.values()].map(({ name, help }) => [name, help]));
	const text = read('docs/operations.md').replace(
		/^(\| `(tributary_\w+)`\s*\| \w+\s*\| .*? \| )(.*?)( *\|)$/gm,
		(line, before: string, name: string) => (meanings.has(name) ? `${before}${meanings.get(name)} |` : line),
	);
	writeFileSync(new URL('../../docs/operations.md', import.meta.url), text);
}
