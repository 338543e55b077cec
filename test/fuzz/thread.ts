import { performance } from 'node:perf_hooks';
import { parentPort, workerData } from 'node:worker_threads';
import { Seeded } from '#test/trust/seeded.ts';
import { caseSeed, formatOf, roundCases } from './cases.ts';
import { mutated } from './mutate.ts';
import { type Format, seedsOf } from './seeds.ts';
import { targets } from './targets.ts';

/** One thread that tries cases until it is told to stop. It notes where it is, so that one that hangs or dies can be made again. */

export interface ThreadData {
	seed: number;
	thread: number;
	formats: readonly Format[];
	/** The number from which cases count: a thread that replaces another goes on behind it. */
	from: number;
	/** The number of the case under way; then 1 to stop. */
	place: SharedArrayBuffer;
}

export interface ThreadNote {
	format: Format;
	cases: number;
	bytes: number;
	/** The longest case of the tally, in milliseconds. */
	longestMs: number;
	finding?: { number: number; text: string };
}

const { seed, thread, formats, from, place } = workerData as ThreadData;
const cells = new Int32Array(place);

/** A case that takes longer is tried again, because the machine may have been busy. */
const slowMs = 1000;

function timed(run: (bytes: Buffer) => void, bytes: Buffer): number {
	const startedMs = performance.now();
	run(bytes);
	return performance.now() - startedMs;
}

function note(given: ThreadNote): void {
	parentPort?.postMessage(given);
}

const seeds = new Map(formats.map((format) => [format, seedsOf(format)]));
let number = from;
while (Atomics.load(cells, 1) === 0) {
	const format = formatOf(formats, thread, number + 1);
	const run = targets[format];
	let bytesInAll = 0;
	let longestMs = 0;
	for (let count = 0; count < roundCases; count++) {
		number++;
		Atomics.store(cells, 0, number);
		const bytes = mutated(format, seeds.get(format) ?? [], new Seeded(caseSeed(seed, thread, number)));
		bytesInAll += bytes.length;
		try {
			let ms = timed(run, bytes);
			for (let again = 0; ms > slowMs && again < 3; again++) ms = Math.min(ms, timed(run, bytes));
			longestMs = Math.max(longestMs, ms);
			if (ms > slowMs) note({ format, cases: 0, bytes: 0, longestMs: ms, finding: { number, text: `it takes ${Math.round(ms)} ms` } });
		} catch (error) {
			const { stack, cause } = error as Error;
			const text = cause instanceof Error ? (cause.stack ?? cause.message) : (stack ?? String(error));
			note({ format, cases: 0, bytes: 0, longestMs: 0, finding: { number, text } });
		}
	}
	note({ format, cases: roundCases, bytes: bytesInAll, longestMs });
}
