/**
 * Tries the readers of every format with inputs that are nearly valid: `npm run test:fuzz -- [options]`.
 *
 *   --seconds <n>      so long (60); 3600 is the long form
 *   --formats <list>   only these, with commas between them
 *   --threads <n>      threads (one for each core)
 *   --seed <n>         repeats the cases of a run with as many threads
 *   --keep             keeps the result for docs/trust.md
 *   --properties       tries what `npm test` generates instead, 20 times as much and other cases each time; paths may follow
 *
 * Inputs are made of small invented ones and, where TRIBUTARY_CORPUS names it, of the corpus. A case that throws what no reader may throw, takes
 * longer than a second or more memory than a thread has, is written to test/fuzz/findings, where test/fuzz/findings.test.ts tries it again. A
 * finding that is made of the corpus has to be made of invented people before it is committed.
 */
import { spawnSync } from 'node:child_process';
import { createHash, randomInt } from 'node:crypto';
import { mkdirSync, writeFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { Worker } from 'node:worker_threads';
import { circumstances, conclude, type ProofResult } from '#test/trust/results.ts';
import { Seeded } from '#test/trust/seeded.ts';
import { caseSeed, formatOf, roundCases } from './cases.ts';
import { mutated } from './mutate.ts';
import { type Format, seedsOf } from './seeds.ts';
import { formats as allFormats } from './targets.ts';
import type { ThreadData, ThreadNote } from './thread.ts';

const { values: options, positionals } = parseArgs({
	allowPositionals: true,
	options: {
		seconds: { type: 'string', default: '60' },
		formats: { type: 'string', default: allFormats.join(',') },
		threads: { type: 'string', default: String(availableParallelism()) },
		seed: { type: 'string' },
		keep: { type: 'boolean', default: false },
		properties: { type: 'boolean', default: false },
	},
});

if (options.properties) {
	const runner = join(import.meta.dirname, '../run.mjs');
	process.exit(spawnSync(process.execPath, [runner, '--fuzz=20', ...positionals], { stdio: 'inherit' }).status ?? 1);
}

const seconds = Number(options.seconds);
const threads = Number(options.threads);
const seed = options.seed === undefined ? randomInt(2 ** 31) : Number(options.seed);
const chosen = allFormats.filter((format) => options.formats.split(',').includes(format));
const findingsFolder = join(import.meta.dirname, 'findings');

/** A thread that is at the same case for so long hangs. */
const hangingMs = 20_000;
/** Before its first case it loads the product, on a machine that may be busy. */
const loadingMs = 180_000;
const memoryMb = 512;
/** More would only repeat the same fault. */
const findingsMax = 20;

interface Tally {
	cases: number;
	bytes: number;
	longestMs: number;
	findings: number;
}

const tallies = new Map(chosen.map((format): [Format, Tally] => [format, { cases: 0, bytes: 0, longestMs: 0, findings: 0 }]));
const findings: string[] = [];

function find(format: Format, thread: number, number: number, text: string): void {
	const tally = tallies.get(format);
	if (tally) tally.findings++;
	if (findings.length >= findingsMax) return;
	const bytes = mutated(format, seedsOf(format), new Seeded(caseSeed(seed, thread, number)));
	const name = `${format}-${createHash('sha256').update(bytes).digest('hex').slice(0, 12)}`;
	mkdirSync(findingsFolder, { recursive: true });
	writeFileSync(join(findingsFolder, name), bytes);
	findings.push(`${name}: ${text.split('\n').slice(0, 4).join(' ')}`);
	console.error(`FOUND ${name}\n${text}`);
}

/** Runs one thread until the time is over, and another in its place where it hangs or dies. */
async function tryCases(thread: number, stopMs: number): Promise<void> {
	let from = 0;
	while (Date.now() < stopMs && findings.length < findingsMax) {
		const place = new SharedArrayBuffer(8);
		const cells = new Int32Array(place);
		Atomics.store(cells, 0, from);
		const workerData: ThreadData = { seed, thread, formats: chosen, from, place };
		const worker = new Worker(new URL('thread.ts', import.meta.url), { workerData, resourceLimits: { maxOldGenerationSizeMb: memoryMb } });
		worker.on('message', (note: ThreadNote) => {
			if (note.finding) find(note.format, thread, note.finding.number, note.finding.text);
			const tally = tallies.get(note.format);
			if (!tally) return;
			tally.cases += note.cases;
			tally.bytes += note.bytes;
			tally.longestMs = Math.max(tally.longestMs, note.longestMs);
		});
		let last = { number: from, sinceMs: Date.now() };
		const watch = setInterval(() => {
			if (Date.now() >= stopMs) Atomics.store(cells, 1, 1);
			const number = Atomics.load(cells, 0);
			if (number !== last.number) last = { number, sinceMs: Date.now() };
			else if (Date.now() - last.sinceMs > (number === from ? loadingMs : hangingMs)) void worker.terminate();
		}, 250);
		const failure = await new Promise<Error | undefined>((resolve) => {
			worker.once('error', resolve);
			worker.once('exit', (code) => resolve(code === 0 ? undefined : new Error('it hangs')));
		});
		clearInterval(watch);
		from = Atomics.load(cells, 0);
		if (failure !== undefined) {
			if (from === 0) throw failure;
			find(formatOf(chosen, thread, from), thread, from, failure.message);
		}
		// The next thread begins a round.
		from = Math.ceil(from / roundCases) * roundCases;
	}
}

const startedMs = Date.now();
console.log(
	`${seconds} s, ${threads} threads, seed ${seed}, ${chosen.map((format) => `${format}: ${seedsOf(format).length} valid inputs`).join(', ')}`,
);
await Promise.all(Array.from({ length: threads }, (_, thread) => tryCases(thread, startedMs + seconds * 1000)));
const elapsed = (Date.now() - startedMs) / 1000;
const cases = [...tallies.values()].reduce((sum, tally) => sum + tally.cases, 0);
const perHour = Math.round((cases / elapsed) * 3600);
const result: ProofResult = {
	proof: 'fuzz',
	...circumstances(startedMs, `npm run test:fuzz -- --seconds ${seconds} --threads ${threads} --seed ${seed}`),
	seed,
	passed: findings.length === 0,
	failures: findings,
	figures: {
		seconds: Math.round(elapsed),
		cases,
		casesPerHour: perHour,
		megabytes: Math.round([...tallies.values()].reduce((sum, tally) => sum + tally.bytes, 0) / 2 ** 20),
		longestMs: Math.round(Math.max(...[...tallies.values()].map(({ longestMs }) => longestMs))),
		memoryMbMax: memoryMb,
		findings: findings.length,
	},
	table: {
		head: ['format', 'cases', 'MB', 'longest ms', 'findings'],
		rows: [...tallies].map(([format, tally]) => [
			format,
			tally.cases,
			Math.round(tally.bytes / 2 ** 20),
			Math.round(tally.longestMs),
			tally.findings,
		]),
	},
	skipped: process.env['TRIBUTARY_CORPUS'] === undefined ? ['inputs made of the corpus: TRIBUTARY_CORPUS is not set'] : [],
};
console.log(
	`${cases} cases in ${Math.round(elapsed)} s: ${perHour} an hour; the longest took ${result.figures['longestMs']} ms, a thread may have ${memoryMb} MB`,
);
conclude(result, options);
