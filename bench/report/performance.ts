import { peerName, ratiosOf } from '../suite/ratios.ts';
import { loadOf } from '../suite/recorder.ts';
import type { Curve, Line, Result } from '../suite/result.ts';
import { groupBy } from './html.ts';
import { markdownTable, msOf } from './markdown.ts';
import { figure } from './plot.ts';
import { recorded } from './recorded.ts';

/** docs/performance.md, from the results that are kept. */

export interface Kept {
	name: string;
	result: Result;
}

const titles: Readonly<Record<string, string>> = {
	limits: 'Limits of disk and network',
	ledger: 'Every way in at once',
	mllp: 'HL7 v2 over MLLP',
	'hl7-http': 'HL7 v2 over HTTP',
	bulk: 'Bulk data',
	fhir: 'FHIR over HTTP',
	'c-store': 'C-STORE',
	mpps: 'Procedure step reports over HTTP',
	'hl7-parse': 'Parsing HL7 v2',
	growth: 'Growth',
	messages: 'A million messages',
	soak: 'Ten minutes at 80 %',
	nodes: 'Several nodes on one database',
	simulate: 'A simulated day',
};

const introductions: Readonly<Record<string, string>> = {
	mllp: '16 sites with 500 patients each; 60 % ORU^R01 with four OBX, 40 % ADT^A08 of 1.1 KB that changes a patient and opens a visit. Each\nconnection has one message unanswered. Receivers that answer and keep nothing show what a peer does before it stores.',
	fhir: 'One site, loaded by `$import`, five observations for each patient. The answer from memory is uWebSockets.js with the bytes of one patient.',
	'c-store':
		'One C-STORE under way on each association; TCP_NODELAY on both sides. Every receiver takes the same files, one after the other, and a `sync`\ncomes before each turn. storescp keeps no index and does not fsync; Orthanc has its SQLite index.',
	'hl7-parse':
		'Parsing and extracting what the events need, with unescaping, components and character set. The C program only finds delimiters with\n`memchr`. simple-hl7 splits and does not resolve escapes.',
	nodes:
		'Nodes of one process with one worker, 12 sites, 48 connections in all, each node with its part of them. All nodes, the senders and PostgreSQL share\nthe cores of one machine, so this shows what nodes cost one another; [capacity.md](capacity.md) says what further machines add.',
	ledger:
		'Clients of 20 sites send unique, numbered work over MLLP, HTTP, FHIR create and C-STORE, one after the other each; afterwards every\nacknowledged piece is stored, once, in the order of its sender.',
};

const day = ({ startedAt }: Result) => startedAt.slice(0, 10);

function circumstances(kept: readonly Kept[]): string {
	const rows = kept.map(({ name, result }) => [
		`\`${name}\``,
		day(result),
		result.commit,
		`${result.machine}, Node.js ${result.node}`,
		`\`${result.command}\``,
		figure(result.minutes),
		figure(result.loadBefore),
	]);
	return markdownTable(['run', 'day', 'commit', 'machine', 'command', 'minutes', 'load before'], rows, ['minutes', 'load before']);
}

function side(kept: readonly Kept[]): string {
	const compared = kept.filter(({ result }) => result.comparisons.length > 0);
	if (compared.length === 0) return 'No run is kept.';
	return compared
		.map(({ name, result }) => {
			const rows = result.comparisons.map(({ work, perSecond, base, basePerSecond, ratio, driver }) => [
				work,
				`${figure(perSecond)}/s`,
				base,
				`${figure(basePerSecond)}/s`,
				ratio.median.toFixed(2),
				`${ratio.low.toFixed(2)}–${ratio.high.toFixed(2)}`,
				driver,
			]);
			const head = ['work', result.commit, 'beside', 'its rate', 'median ratio', '95 % interval', 'driver'];
			return `\`${name}\`, ${day(result)}, ${result.comparisons[0]?.pairs ?? 0} pairs:\n\n${markdownTable(head, rows, [result.commit, 'its rate', 'median ratio'])}`;
		})
		.join('\n\n');
}

function lineTable(lines: readonly Line[], result: Result): string {
	const hasRatios = lines.some((line) => ratiosOf(line, result).length > 0);
	const hasCpu = lines.some(({ usage }) => usage !== undefined);
	const hasTimes = lines.some(({ p50Ms }) => p50Ms !== null);
	const rows = lines.map((line) => {
		const { usage, perSecond, lowest, highest } = line;
		const spread = lowest === undefined || highest === undefined || lowest === highest ? '' : ` (${figure(lowest)}–${figure(highest)})`;
		return [
			line.work,
			line.subject,
			loadOf(line),
			`${figure(perSecond)}/s${spread}`,
			...(hasTimes ? [msOf(line.p50Ms), msOf(line.p99Ms)] : []),
			...(hasCpu
				? [
						usage === undefined
							? ''
							: `${figure(((usage.main + usage.others) * 1e6) / perSecond)} + ${figure((usage.database * 1e6) / perSecond)}`,
					]
				: []),
			...(hasRatios
				? [
						ratiosOf(line, result)
							.map(({ other, ratio }) => `${figure(ratio)} × ${other}`)
							.join(', '),
					]
				: []),
			line.driver,
			line.saturated ?? '',
		];
	});
	const head = [
		'work',
		'subject',
		'load',
		'rate',
		...(hasTimes ? ['p50 ms', 'p99 ms'] : []),
		...(hasCpu ? ['CPU µs'] : []),
		...(hasRatios ? ['in the same run'] : []),
		'driver',
		'saturated',
	];
	return markdownTable(head, rows, ['p50 ms', 'p99 ms', 'CPU µs']);
}

/** Few points of each curve, the first and the last among them. */
function curveTable({ title, x, y, series }: Curve): string {
	const all = [...new Set(series.flatMap(({ points }) => points.map(([at]) => at)))].sort((one, other) => one - other);
	const step = Math.max(1, Math.ceil((all.length - 1) / 6));
	const shown = all.filter((_, index) => index % step === 0 || index === all.length - 1);
	const rows = series.map(({ name, points }) => [
		name,
		...shown.map((at) => figure(points.find(([place]) => place === at)?.[1] ?? Number.NaN)),
	]);
	return `${title} (${y}, by ${x}):\n\n${markdownTable(['', ...shown.map(figure)], rows, shown.map(figure))}`;
}

function sections(kept: readonly Kept[]): string {
	const parts: string[] = [];
	for (const { name, result } of kept) {
		for (const [section, lines] of groupBy(result.lines, (line) => line.section)) {
			const wrong = result.faults.length === 0 ? '' : '\n\nThe run had faults.';
			const curves = result.curves.filter((curve) => curve.section === section).map(curveTable);
			// Growth has a table of its own.
			const table = section === 'growth' ? [] : [lineTable(lines, result)];
			const introduction = introductions[section] === undefined ? '' : `\n\n${introductions[section]}`;
			parts.push(
				`## ${titles[section] ?? section}${introduction}\n\nRun \`${name}\`, ${day(result)}, commit ${result.commit}.${wrong}\n\n${[...table, ...curves].join('\n\n')}`,
			);
		}
		if (result.notes.length > 0)
			parts.push(`### Noted in \`${name}\`\n\n${result.notes.map((note) => `- ${note.replace(/ +/g, ' ')}`).join('\n')}`);
	}
	return parts.join('\n\n');
}

function elsewhere(): string {
	return markdownTable(
		['what', 'figure', 'by', 'when and where'],
		recorded.map(({ what, figure: told, by, where }) => [what, told, by, where]),
	);
}

export function performanceDocument(kept: readonly Kept[]): string {
	const peers = [
		...new Set(kept.flatMap(({ result }) => result.lines.filter(({ kind }) => kind === 'peer').map(({ subject }) => peerName(subject)))),
	];
	return `# Performance

This page is generated: \`npm run bench -- --document\` writes it from the results in \`bench/results\`, and from nothing else. \`npm run bench\` measures
anew and writes a report with plots (\`bench/build/report.html\`); \`npm run bench -- --help\` lists what there is.

Two shared virtual cores vary by about 15 % between runs, so ratios within one run say more than the figures. A ratio is printed only where both were
measured in the same run${peers.length === 0 ? '' : ` (${peers.join(', ')})`}; what was measured elsewhere stands at the end, without one.

## Circumstances

${circumstances(kept)}

${[...new Set(kept.map(({ result }) => result.database))].join('\n')}

- The service is a process of its own with default settings, as users start it, on the embedded database with fsync; sender, service and database share
  the cores.
- Acknowledged is only what is committed, and for an image what is also durable in the object store. After each load the rows are compared with the
  acknowledgements; a run in which they differ says so.
- A closed loop sends the next piece of work when the last one is answered. An open loop sends at a fixed rate, and counts each time from when it was
  due, so that what a pause delays is counted.
- The driver is named, and what had no time left: the driver itself, a thread, all cores, the disk, or nothing but round trips. CPU µs is the processor
  time of service + database for each piece of work.
- Rates are the median (lowest–highest) of the rounds. The load before is what the machine did when the run began: above
  0.5 others were at work, and only what was taken in turns says something.

## Side by side

The same work in pairs, the order turned in each pair, both services running and one of them idle. The interval holds the true median ratio with at
least 95 %.

${side(kept)}

${sections(kept)}

## Keys and partitions

\`npm run bench -- keys\`; the figures are in decision 32.

## Recorded elsewhere

${elsewhere()}
`;
}
