import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { dcmtkReceiver, orthancReceiver, type StoreReceiver } from '../peers/store-receivers.ts';
import { instancesAsAcknowledged } from '../suite/books.ts';
import { middle, type SuiteOptions } from '../suite/options.ts';
import type { Recorder } from '../suite/recorder.ts';
import { Subject } from '../suite/subject.ts';
import { instanceUids, writeInstances } from './instances.ts';
import { type StoreDriver, type StoreResult, storeDriver } from './store-driver.ts';
import { saturatedBy, type Usage } from './usage.ts';

/**
 * C-STORE over 1, 4 and 8 associations, beside storescp and Orthanc: each receiver takes the same files in the same run, one
 * after the other, alone on the machine with the sender. Every receiver has taken some thousand instances before the first case.
 */
const section = 'c-store';

const loads = [
	{ name: '10 KB', perSecond: 900, pixelBytes: 8600 },
	{ name: 'CT 525 KB', perSecond: 200, pixelBytes: 524_288 },
] as const;

interface Measured {
	result: StoreResult;
	usage?: Usage;
	walBytes?: number;
	ledger?: string;
}

class StoreBench {
	readonly driver: StoreDriver = storeDriver();
	readonly file: string;
	readonly #recorder: Recorder;
	#batch = 0;
	#count = 0;

	constructor(directory: string, recorder: Recorder) {
		this.file = join(directory, 'instances');
		this.#recorder = recorder;
	}

	/** Instances that no receiver has seen. */
	async write(count: number, pixelBytes: number): Promise<void> {
		this.#batch += 1;
		this.#count = count;
		await writeInstances(this.file, { batch: this.#batch, count, pixelBytes });
	}

	async send({ port, calledAe }: StoreReceiver, associations: number, subject?: Subject, echoMs?: number): Promise<Measured> {
		// The bytes that the receiver before, or the corpus, left in the page cache would be written while this one waits for its fsync.
		spawnSync('sync');
		const wal = await subject?.walBytes();
		const used = subject?.observe();
		const result = await this.driver.run({ port, called: calledAe, associations, file: this.file, ...(echoMs && { echoMs }) });
		if (subject === undefined || used === undefined || wal === undefined) return { result };
		const usage = used(result.driverShare);
		const walBytes = ((await subject.walBytes()) - wal) / result.instances;
		const { text, isFault } = await instancesAsAcknowledged(subject, instanceUids({ batch: this.#batch, count: this.#count }));
		if (isFault) this.#recorder.fault(`C-STORE, ${associations} associations: ${text}`);
		return { result, usage, walBytes, ledger: text };
	}
}

function report(
	recorder: Recorder,
	work: string,
	receiver: { name: string; kind: 'product' | 'peer' },
	associations: number,
	rounds: readonly Measured[],
	driver: string,
): void {
	const { median, lowest, highest } = middle(rounds, ({ result }) => result.perSecond);
	const { result, usage, walBytes, ledger } = median;
	recorder.line({
		section,
		work,
		subject: receiver.name,
		kind: receiver.kind,
		connections: associations,
		perSecond: result.perSecond,
		lowest,
		highest,
		p50Ms: result.p50Ms,
		p99Ms: result.p99Ms,
		maxMs: result.maxMs,
		failed: result.refused,
		driver,
		...(usage && { usage, saturated: saturatedBy(usage) }),
		...(walBytes !== undefined && { walBytes }),
		...(ledger !== undefined && { ledger }),
	});
}

export async function cStore(recorder: Recorder, options: SuiteOptions): Promise<void> {
	const directory = mkdtempSync(join(tmpdir(), 'tributary-bench-'));
	const bench = new StoreBench(directory, recorder);
	const receivers: StoreReceiver[] = [];
	try {
		await using subject = await Subject.open('Tributary', { sites: 1 });
		recorder.database = await subject.settings();
		receivers.push({ name: subject.name, calledAe: 'TRIBUTARY', port: subject.port('dimse'), stop: () => Promise.resolve() });
		for (const peer of options.isQuick ? [] : [await dcmtkReceiver(directory), await orthancReceiver(directory)])
			if (peer) receivers.push(peer);
		const own = (receiver: StoreReceiver) => (receiver === receivers[0] ? subject : undefined);
		for (let round = 0; round < (options.isQuick ? 0 : 2); round++) {
			await bench.write(2000, 8600);
			for (const receiver of receivers) await bench.send(receiver, 4);
		}
		for (const { name, perSecond, pixelBytes } of loads) {
			for (const associations of options.isQuick ? [4] : [1, 4, 8]) {
				const results = new Map<StoreReceiver, Measured[]>();
				for (let round = 0; round < options.rounds; round++) {
					await bench.write(Math.ceil(perSecond * options.seconds * (associations === 1 ? 0.6 : 1)), pixelBytes);
					for (const receiver of receivers) {
						results.set(receiver, [...(results.get(receiver) ?? []), await bench.send(receiver, associations, own(receiver))]);
					}
				}
				for (const [receiver, rounds] of results) {
					const named = { name: receiver.name, kind: own(receiver) === undefined ? ('peer' as const) : ('product' as const) };
					report(recorder, `C-STORE ${name}`, named, associations, rounds, bench.driver.name);
				}
			}
		}
		if (!options.isQuick && receivers[0] !== undefined) await underLoad(bench, receivers[0], subject, { recorder, options });
	} finally {
		for (const receiver of receivers) await receiver.stop();
		rmSync(directory, { recursive: true, force: true });
	}
}

/** C-ECHO beside eight associations that store CTs, and memory with 64 of them. */
async function underLoad(
	bench: StoreBench,
	receiver: StoreReceiver,
	subject: Subject,
	{ recorder, options }: { recorder: Recorder; options: SuiteOptions },
): Promise<void> {
	const count = Math.ceil(200 * options.seconds);
	await bench.write(count, 524_288);
	const { result } = await bench.send(receiver, 8, subject, 5);
	recorder.note(`C-ECHO beside eight associations of CTs: p99 ${result.echoP99Ms.toFixed(1)} ms`);
	await bench.write(count, 524_288);
	const many = await bench.send(receiver, 64, subject);
	const { now, highest } = subject.memory();
	recorder.note(`64 associations of CTs: ${many.result.perSecond.toFixed(0)}/s, resident ${now} MB, at most ${highest} MB`);
}
