import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ServiceProcess } from '#test/support/service-process.ts';
import { compile } from '../compiler.ts';
import { dcmtkReceiver, orthancReceiver, type StoreReceiver } from '../peers/store-receivers.ts';
import { writeInstances } from './instances.ts';
import { runLoad } from './run-load.ts';

/**
 * C-STORE over 1, 4 and 8 associations, beside storescp and Orthanc: each receiver takes the same files in the same run, one
 * after the other, alone on the machine with the sender. Tributary: object and directory fsynced, index row committed with
 * fsync before each Success. Every receiver has taken 8,000 instances before the first case. BENCH_ROUNDS (3) rounds of each case.
 */
const rounds = Number(process.env['BENCH_ROUNDS'] ?? 3);

const loads = [
	{ name: '10 KB', count: 2000, pixelBytes: 8600, associations: [1, 4, 8] },
	{ name: 'CT 525 KB', count: 500, pixelBytes: 524_288, associations: [1, 4, 8] },
] as const;

interface LoadResult {
	perSecond: number;
	p50Ms: number;
	p99Ms: number;
	echoP99Ms: number;
}

interface Bench {
	program: string;
	file: string;
}

function send({ program, file }: Bench, { port, calledAe }: StoreReceiver, associations: number, pauseMs: number): Promise<LoadResult> {
	// What the receiver before, or the corpus, left in the page cache would be written while this one waits for its fsync.
	spawnSync('sync');
	return runLoad<LoadResult>(program, [String(port), calledAe, String(associations), String(pauseMs), file]);
}

async function tributary(service: ServiceProcess): Promise<StoreReceiver> {
	await service.start();
	const added = await service.cli('site', 'add', 'bench', '--name', 'Bench', '--ae-title', 'TRIBUTARY');
	if (added.code !== 0) throw new Error(added.stderr);
	await new Promise((resolve) => setTimeout(resolve, 1500));
	return { name: 'Tributary', calledAe: 'TRIBUTARY', port: service.port('dimse'), stop: async () => void (await service.end('SIGTERM')) };
}

/** Resident memory of a process, in MB: now, and at its highest (Linux). */
function memoryOf(pid: number): { now: number; highest: number } {
	const text = readFileSync(`/proc/${pid}/status`, 'utf8');
	const of = (name: string) => Math.round(Number(new RegExp(`${name}:\\s+(\\d+)`).exec(text)?.[1]) / 1024);
	return { now: of('VmRSS'), highest: of('VmHWM') };
}

export async function run(): Promise<void> {
	const program = compile(join(import.meta.dirname, 'store-load.c'), 'store-load');
	if (program === undefined) throw new Error('the C-STORE load needs a C compiler (cc)');
	const directory = mkdtempSync(join(tmpdir(), 'tributary-bench-'));
	const bench: Bench = { program, file: join(directory, 'instances') };
	await using service = new ServiceProcess({ LOG_LEVEL: 'warn' });
	const receivers: StoreReceiver[] = [];
	try {
		receivers.push(await tributary(service));
		for (const peer of [await dcmtkReceiver(directory), await orthancReceiver(directory)]) if (peer) receivers.push(peer);
		console.log(`TCP_NODELAY on both sides; median of ${rounds} rounds (lowest–highest), instances a second\n`);
		let batch = 1;
		for (; batch <= 4; batch++) {
			await writeInstances(bench.file, { batch, count: 2000, pixelBytes: 8600 });
			for (const receiver of receivers) await send(bench, receiver, 4, 0);
		}
		for (const { name, count, pixelBytes, associations } of loads) {
			for (const number of associations) {
				const results = new Map<string, LoadResult[]>();
				for (let round = 0; round < rounds; round++) {
					await writeInstances(bench.file, { batch: batch++, count, pixelBytes });
					for (const receiver of receivers) {
						const result = await send(bench, receiver, number, 0);
						results.set(receiver.name, [...(results.get(receiver.name) ?? []), result]);
					}
				}
				report(`${name}, ${number} association${number > 1 ? 's' : ''}`, results);
			}
		}
		await underLoad(bench, receivers[0], service, batch);
	} finally {
		for (const receiver of receivers) await receiver.stop();
		rmSync(directory, { recursive: true, force: true });
	}
}

/** C-ECHO beside eight associations that store CTs, and memory with 64 of them. */
async function underLoad(bench: Bench, receiver: StoreReceiver | undefined, service: ServiceProcess, batch: number): Promise<void> {
	if (receiver === undefined) return;
	await writeInstances(bench.file, { batch, count: 1000, pixelBytes: 524_288 });
	const { echoP99Ms } = await send(bench, receiver, 8, 5);
	await writeInstances(bench.file, { batch: batch + 1, count: 1000, pixelBytes: 524_288 });
	const { perSecond } = await send(bench, receiver, 64, 0);
	const { now, highest } = memoryOf(service.pid);
	console.log(`\nC-ECHO beside 8 associations of CTs: p99 ${echoP99Ms.toFixed(1)} ms`);
	console.log(`64 associations of CTs: ${perSecond.toFixed(0)}/s, resident ${now} MB, at most ${highest} MB`);
}

function report(name: string, results: ReadonlyMap<string, readonly LoadResult[]>): void {
	console.log(name);
	let own = 0;
	for (const [receiver, rounds] of results) {
		const sorted = rounds.toSorted((left, right) => left.perSecond - right.perSecond);
		const median = sorted[sorted.length >> 1];
		if (median === undefined) continue;
		if (own === 0) own = median.perSecond;
		const range = `${sorted[0]?.perSecond.toFixed(0)}–${sorted.at(-1)?.perSecond.toFixed(0)}`;
		const ratio = own === median.perSecond ? '' : `   Tributary is ${(own / median.perSecond).toFixed(2)} ×`;
		console.log(
			`  ${receiver.padEnd(18)} ${median.perSecond.toFixed(0).padStart(6)}/s (${range})  p50 ${median.p50Ms.toFixed(2)} ms  p99 ${median.p99Ms.toFixed(2)} ms${ratio}`,
		);
	}
}
