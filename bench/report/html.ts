import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { loadOf } from '../suite/recorder.ts';
import type { Line, Result } from '../suite/result.ts';
import { barPlot, escaped, figure, linePlot, type Series } from './plot.ts';

/** One run as one page that needs nothing else: tables, and plots of throughput and slowest answers over load, growth, and where the time goes. */

const style = `body{font:15px/1.45 system-ui,sans-serif;margin:2rem auto;max-width:80rem;padding:0 1rem;color:#1c2530;background:#fff}
table{border-collapse:collapse;margin:.6rem 0 1.6rem;font-size:13px}th,td{padding:.22rem .7rem;border-bottom:1px solid #dfe4ea;text-align:left}
td.n,th.n{text-align:right;font-variant-numeric:tabular-nums}.peer td{color:#5b6770}.limit td{color:#8a6d1f}.plots{display:flex;flex-wrap:wrap;gap:1rem}
svg{width:620px;max-width:100%;background:#fafbfc;border:1px solid #dfe4ea;border-radius:4px}svg text{font:11px system-ui,sans-serif;fill:#333}
svg text.title{font-size:13px;font-weight:600}.grid{stroke:#dfe4ea}.wrong{color:#a3161f;font-weight:600}`;

export function groupBy<T>(values: readonly T[], keyOf: (value: T) => string): Map<string, T[]> {
	const groups = new Map<string, T[]>();
	for (const value of values) {
		const key = keyOf(value);
		const group = groups.get(key);
		if (group === undefined) groups.set(key, [value]);
		else group.push(value);
	}
	return groups;
}

const cell = (text: string, isNumber = false) => `<td${isNumber ? ' class="n"' : ''}>${escaped(text)}</td>`;
const ms = (value: number | null | undefined) => (value === null || value === undefined ? '–' : figure(value));

function row(line: Line): string {
	const { work, subject, kind, perSecond, lowest, highest, p50Ms, p99Ms, driver, saturated = '', ledger = '', failed, usage } = line;
	const spread = lowest === undefined || highest === undefined ? '' : ` (${figure(lowest)}–${figure(highest)})`;
	const cpu =
		usage === undefined ? '' : `${figure(((usage.main + usage.others) * 1e6) / perSecond)} + ${figure((usage.database * 1e6) / perSecond)}`;
	return `<tr class="${kind}">${cell(work)}${cell(subject)}${cell(loadOf(line))}${cell(`${figure(perSecond)}${spread}`, true)}${cell(ms(p50Ms), true)}${cell(ms(p99Ms), true)}${cell(cpu, true)}${cell(driver)}${cell(saturated)}${cell(failed > 0 ? `${failed} failed; ${ledger}` : ledger)}</tr>`;
}

function table(lines: readonly Line[]): string {
	const head = ['work', 'subject', 'load', 'per second', 'p50 ms', 'p99 ms', 'CPU µs: service + database', 'driver', 'saturated', 'ledger'];
	return `<table><tr>${head.map((name, index) => `<th${index > 2 && index < 7 ? ' class="n"' : ''}>${name}</th>`).join('')}</tr>${lines.map(row).join('')}</table>`;
}

/** A series for each work and subject that was measured at several loads. */
function seriesOf(lines: readonly Line[], loadAt: (line: Line) => number | undefined, figureOf: (line: Line) => number | null): Series[] {
	const groups = groupBy(
		lines.filter((line) => loadAt(line) !== undefined),
		({ work, subject, driver }) => `${work} · ${subject}${lines.some((other) => other.driver !== driver) ? ` · ${driver}` : ''}`,
	);
	return [...groups]
		.map(([name, own]) => ({
			name,
			points: own.map((line): [number, number] => [loadAt(line) ?? 0, figureOf(line) ?? Number.NaN]).sort(([one], [other]) => one - other),
		}))
		.filter(({ points }) => new Set(points.map(([at]) => at)).size > 1);
}

function plotsOf(lines: readonly Line[]): string[] {
	const closed = lines.filter(({ duePerSecond }) => duePerSecond === undefined);
	const open = lines.filter(({ duePerSecond }) => duePerSecond !== undefined);
	const plots: string[] = [];
	const add = (title: string, x: string, y: string, series: Series[]) => {
		if (series.length > 0) plots.push(linePlot({ title, x, y, series }));
	};
	add(
		'Throughput over load',
		'connections',
		'per second',
		seriesOf(
			closed,
			({ connections }) => connections,
			({ perSecond }) => perSecond,
		),
	);
	add(
		'p99 over load',
		'connections',
		'ms',
		seriesOf(
			closed,
			({ connections }) => connections,
			({ p99Ms }) => p99Ms,
		),
	);
	add(
		'p99 at a fixed rate (open loop)',
		'due per second',
		'ms',
		seriesOf(
			open,
			({ duePerSecond }) => duePerSecond,
			({ p99Ms }) => p99Ms,
		),
	);
	const bars = closed.flatMap((line) => {
		const { usage, perSecond } = line;
		if (usage === undefined) return [];
		return [
			{
				name: `${line.work}, ${loadOf(line)}`,
				values: [usage.main, usage.others, usage.database, usage.driver].map((cores) => (cores * 1e6) / perSecond),
			},
		];
	});
	if (bars.length > 0) {
		plots.push(
			barPlot({
				title: 'Where the CPU goes',
				x: 'µs for each',
				parts: ['main thread', 'other threads', 'database', 'driver'],
				bars: bars.slice(0, 12),
			}),
		);
	}
	return plots;
}

function comparisons({ comparisons: all }: Result): string {
	if (all.length === 0) return '';
	const rows = all.map(
		({ work, subject, base, perSecond, basePerSecond, ratio, pairs, driver, ledger }) =>
			`<tr>${cell(work)}${cell(subject)}${cell(figure(perSecond), true)}${cell(base)}${cell(figure(basePerSecond), true)}${cell(`${ratio.median.toFixed(2)} (${ratio.low.toFixed(2)}–${ratio.high.toFixed(2)})`, true)}${cell(String(pairs), true)}${cell(driver)}${cell(ledger)}</tr>`,
	);
	const head = ['work', 'commit', 'per second', 'beside', 'per second', 'median ratio (95 %)', 'pairs', 'driver', 'ledger'];
	return `<h2>Side by side</h2><table><tr>${head.map((name) => `<th>${name}</th>`).join('')}</tr>${rows.join('')}</table>`;
}

export function reportOf(result: Result): string {
	const { commit, startedAt, machine, node, database, command, minutes, loadBefore, notes, faults, lines, curves } = result;
	const sections = [...groupBy(lines, ({ section }) => section)].map(
		([name, own]) => `<h2>${escaped(name)}</h2><div class="plots">${plotsOf(own).join('')}</div>${table(own)}`,
	);
	const grown =
		curves.length === 0
			? ''
			: `<h2>Over time and size</h2><div class="plots">${curves.map((curve) => linePlot({ ...curve, logarithmic: curve.logarithmic ?? false })).join('')}</div>`;
	const facts = [
		`${machine}, Node.js ${node}`,
		database,
		`<code>${escaped(command)}</code>`,
		`${startedAt.slice(0, 16).replace('T', ' ')} UTC, ${figure(minutes)} minutes; load before ${figure(loadBefore)}`,
	];
	const wrong =
		faults.length === 0
			? '<p>Every answer was right, and what was acknowledged is stored.</p>'
			: `<p class="wrong">${faults.map(escaped).join('<br>')}</p>`;
	return `<!doctype html><html lang="en"><meta charset="utf-8"><title>Tributary ${escaped(commit)}: benches</title><style>${style}</style>
<h1>Tributary ${escaped(commit)}</h1><p>${facts.join('<br>')}</p>${wrong}${comparisons(result)}${grown}${sections.join('\n')}
${notes.length === 0 ? '' : `<h2>Notes</h2><p>${notes.map(escaped).join('<br>')}</p>`}</html>\n`;
}

export function writeReport(path: string, result: Result): string {
	mkdirSync(dirname(path), { recursive: true });
	writeFileSync(path, reportOf(result));
	return path;
}
