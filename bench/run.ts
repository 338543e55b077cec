import { mkdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { fullOptions, quickOptions, type SuiteOptions } from './suite/options.ts';
import { allRatios } from './suite/ratios.ts';
import { givenVariables, machine, Recorder, shortCommit } from './suite/recorder.ts';
import { keptResults, writeResult } from './suite/result.ts';

type Bench = (recorder: Recorder, options: SuiteOptions) => Promise<void>;

/** A run of everything takes these, in this order. */
const suite: Readonly<Record<string, () => Promise<Bench>>> = {
	limits: async () => (await import('./load/limits.ts')).limits,
	idle: async () => (await import('./load/idle.ts')).idle,
	ledger: async () => (await import('./load/ledger.ts')).ledger,
	mllp: async () => (await import('./load/mllp.ts')).mllp,
	'hl7-http': async () => (await import('./load/hl7-http.ts')).hl7Http,
	fhir: async () => (await import('./load/fhir.ts')).fhir,
	'c-store': async () => (await import('./load/c-store.ts')).cStore,
	mpps: async () => (await import('./load/mpps.ts')).mpps,
	'hl7-parse': async () => (await import('./micro/hl7-parse.ts')).hl7Parse,
	'unit-costs': async () => (await import('./load/unit-costs.ts')).unitCosts,
};

/** They take long, or measure something else than the service. */
const alone: Readonly<Record<string, () => Promise<Bench>>> = {
	growth: async () => (await import('./load/fhir-growth.ts')).growth,
	messages: async () => (await import('./load/messages.ts')).messages,
	soak: async () => (await import('./load/soak.ts')).soak,
	nodes: async () => (await import('./load/nodes.ts')).nodes,
	shares: async () => (await import('./load/shares.ts')).shares,
	simulate: async () => (await import('./simulate.ts')).simulate,
	'fhir-bundles': async () => (await import('./load/fhir-bundles.ts')).run,
	'hl7v3-parse': async () => {
		const { run } = await import('./micro/hl7v3-parse.ts');
		return async () => void (await run());
	},
	keys: async () => (await import('./micro/keys.ts')).run,
};

const benches = { ...suite, ...alone };

/** Every way in, and what reads it, without what would only be faster or slower. */
const quick = ['ledger', 'mllp', 'fhir', 'c-store'];

const usage = `usage: npm run bench -- [options] [name…]

  ${Object.keys(suite).join(', ')}   (all of them without a name)
  ${Object.keys(alone).join(', ')}

  --quick                 ${quick.join(', ')} as short as can be: answers and stored rows count, not times
  --peers                 installs bench/peers before
  --compare <base> [<commit>]   two commits in pairs; without the second this checkout
  --keep <name>           keeps the result as bench/results/<name>.json, for docs/performance.md
  --json <file>           writes the result there
  --html <file>           writes the report there (bench/build/report.html)
  --document              only writes docs/performance.md, docs/capacity.md and bench/baseline.json from bench/results`;

const { values, positionals } = parseArgs({
	allowPositionals: true,
	options: {
		quick: { type: 'boolean', default: false },
		peers: { type: 'boolean', default: false },
		compare: { type: 'boolean', default: false },
		document: { type: 'boolean', default: false },
		help: { type: 'boolean', default: false },
		keep: { type: 'string' },
		json: { type: 'string' },
		html: { type: 'string' },
	},
});

function refuse(text: string): never {
	console.error(text);
	process.exit(2);
}

async function measure(recorder: Recorder): Promise<void> {
	if (values.compare) {
		const [base, name, ...more] = positionals;
		if (base === undefined || more.length > 0) refuse(usage);
		const { compare, compareOptions } = await import('./compare.ts');
		await compare(recorder, base, name, compareOptions(process.env));
		return;
	}
	const unknown = positionals.filter((name) => !Object.hasOwn(benches, name));
	if (unknown.length > 0) refuse(`there is no bench ${unknown.join(', ')}\n\n${usage}`);
	const options = values.quick ? quickOptions : fullOptions(process.env);
	for (const name of positionals.length > 0 ? positionals : values.quick ? quick : Object.keys(suite)) {
		console.log(`\n${name}`);
		const bench = await benches[name]?.();
		await bench?.(recorder, options);
	}
}

/** Ratios of this run that the baseline has too: a run on another machine can be told by them. */
function besideBaseline(ratios: Readonly<Record<string, number>>): void {
	const baseline = JSON.parse(readFileSync(new URL('baseline.json', import.meta.url), 'utf8')) as Record<
		string,
		{ ratios: Record<string, number> }
	>;
	const known = Object.assign({}, ...Object.values(baseline).map((run) => run.ratios)) as Record<string, number>;
	for (const [name, ratio] of Object.entries(ratios)) {
		const before = known[name];
		if (before !== undefined) console.log(`${name}: ${ratio}, baseline ${before}`);
	}
}

if (values.help) refuse(usage);
if (values.document) {
	const { writeDocuments } = await import('./report/documents.ts');
	for (const path of writeDocuments()) console.log(path);
} else {
	if (values.peers) (await import('./peers/installed.ts')).installPeers();
	const recorder = new Recorder();
	console.log(`${machine()}, Node ${process.versions.node}, commit ${shortCommit()}`);
	await measure(recorder);
	const result = recorder.result(`${givenVariables(process.env)}npm run bench -- ${process.argv.slice(2).join(' ')}`.trim());
	if (!values.quick) besideBaseline(allRatios(result));
	const paths = [values.json, values.keep && fileURLToPath(new URL(`${values.keep}.json`, keptResults))];
	for (const path of paths) {
		if (!path) continue;
		mkdirSync(dirname(path), { recursive: true });
		writeResult(path, result);
		console.log(`\nresult: ${path}`);
	}
	const { writeReport } = await import('./report/html.ts');
	console.log(`report: ${writeReport(values.html ?? join(import.meta.dirname, 'build/report.html'), result)}`);
	if (recorder.faults.length > 0) {
		console.error(`\n${recorder.faults.length} faults:\n${recorder.faults.join('\n')}`);
		process.exitCode = 1;
	}
}
