import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { explicitLittleEndian } from '#dicom/transfer-syntax.ts';
import { ctStorage } from '#test/support/data-set.ts';
import { type SentInstance, StorageScu } from '#test/support/storage-scu.ts';
import { compile } from '../compiler.ts';
import { Latencies } from './latencies.ts';
import { runLoad } from './run-load.ts';

/** All instances of a file (see `writeInstances`), instance i over association i % associations; a C-ECHO each `echoMs` beside them, if any. */
export interface StoreLoad {
	port: number;
	called: string;
	associations: number;
	file: string;
	echoMs?: number;
}

export interface StoreResult {
	instances: number;
	perSecond: number;
	refused: number;
	p50Ms: number;
	p99Ms: number;
	maxMs: number;
	echoP99Ms: number;
	driverShare: number;
}

export interface StoreDriver {
	name: string;
	run(load: StoreLoad): Promise<StoreResult>;
}

/** The instances of a file that `writeInstances` made. */
export function instancesIn(file: string): SentInstance[] {
	const bytes = readFileSync(file);
	const pieces: Buffer[] = [];
	for (let at = 0; at < bytes.length; ) {
		const end = at + 4 + bytes.readUInt32LE(at);
		pieces.push(bytes.subarray(at + 4, end));
		at = end;
	}
	return Array.from({ length: pieces.length / 2 }, (_, index) => ({
		sopClassUid: ctStorage,
		sopInstanceUid: String(pieces[2 * index]),
		transferSyntaxUid: explicitLittleEndian,
		dataSet: pieces[2 * index + 1] ?? Buffer.alloc(0),
	}));
}

/** This driver needs no compiler. */
export const storeInJavaScript: StoreDriver = {
	name: 'JavaScript',
	async run({ port, called, associations, file, echoMs }) {
		const instances = instancesIn(file);
		const open = () => StorageScu.open(port, { called, calling: 'BENCH' });
		const scus = await Promise.all(Array.from({ length: associations }, open));
		const [stored, echoes] = [new Latencies(), new Latencies()];
		const used = process.cpuUsage();
		const startedMs = performance.now();
		let refused = 0;
		let isDone = false;
		const echoing = async () => {
			if (echoMs === undefined) return;
			using scu = await open();
			while (!isDone) {
				const askedMs = performance.now();
				await scu.echo();
				echoes.record(performance.now() - askedMs);
				await new Promise((resolve) => setTimeout(resolve, echoMs));
			}
		};
		const storing = Promise.all(
			scus.map(async (scu, number) => {
				for (let index = number; index < instances.length; index += associations) {
					const sent = instances[index];
					if (sent === undefined) break;
					const sentMs = performance.now();
					const { status } = await scu.store(sent);
					stored.record(performance.now() - sentMs);
					if (status !== 0) refused += 1;
				}
			}),
		).finally(() => {
			isDone = true;
		});
		await Promise.all([storing, echoing()]);
		const seconds = (performance.now() - startedMs) / 1000;
		const { user, system } = process.cpuUsage(used);
		for (const scu of scus) await scu.release();
		return {
			instances: instances.length,
			perSecond: instances.length / seconds,
			refused,
			p50Ms: stored.percentile(50),
			p99Ms: stored.percentile(99),
			maxMs: stored.maxMs,
			echoP99Ms: echoes.percentile(99),
			driverShare: (user + system) / 1e6 / seconds,
		};
	},
};

export function storeDriver(): StoreDriver {
	const program = compile(join(import.meta.dirname, 'store-load.c'), 'store-load');
	if (program === undefined) return storeInJavaScript;
	return {
		name: 'store-load (C)',
		run: ({ port, called, associations, file, echoMs = 0 }) =>
			runLoad<StoreResult>(program, [String(port), called, String(associations), String(echoMs), file]),
	};
}
