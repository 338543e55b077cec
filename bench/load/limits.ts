import { execFileSync } from 'node:child_process';
import { closeSync, fdatasyncSync, fsyncSync, mkdtempSync, openSync, rmSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { compile } from '../compiler.ts';
import type { SuiteOptions } from '../suite/options.ts';
import type { Recorder } from '../suite/recorder.ts';
import { Latencies } from './latencies.ts';

/** Disk and network of this machine give no more than this. It is measured in the same run as the work that they bound. */

function sync(
	name: string,
	bytes: number,
	once: (fd: number) => void,
	{ recorder, options }: { recorder: Recorder; options: SuiteOptions },
): void {
	const directory = mkdtempSync(join(tmpdir(), 'tributary-bench-'));
	const fd = openSync(join(directory, 'file'), 'w');
	const latencies = new Latencies();
	const block = Buffer.alloc(bytes, 7);
	try {
		const startedMs = performance.now();
		let atMs = startedMs;
		while (atMs - startedMs < options.seconds * 500) {
			writeSync(fd, block);
			once(fd);
			const nowMs = performance.now();
			latencies.record(nowMs - atMs);
			atMs = nowMs;
		}
		recorder.line({
			section: 'limits',
			work: name,
			subject: 'disk',
			kind: 'limit',
			connections: 1,
			perSecond: (latencies.count * 1000) / (atMs - startedMs),
			p50Ms: latencies.percentile(50),
			p99Ms: latencies.percentile(99),
			failed: 0,
			driver: 'Node.js',
			saturated: 'the disk',
		});
	} finally {
		closeSync(fd);
		rmSync(directory, { recursive: true, force: true });
	}
}

export async function limits(recorder: Recorder, options: SuiteOptions): Promise<void> {
	const given = { recorder, options };
	sync('append 8 KB, fdatasync', 8192, fdatasyncSync, given);
	sync('append 8 KB, fsync', 8192, fsyncSync, given);
	sync('append 525 KB, fdatasync', 525_000, fdatasyncSync, given);
	const program = compile(join(import.meta.dirname, '../micro/loopback.c'), 'loopback', ['-pthread']);
	if (program === undefined) {
		recorder.note('no C compiler: the round trip over loopback was not measured');
		return;
	}
	for (const bytes of [1300, 525_000]) {
		const perSecond = Number(execFileSync(program, [String(bytes), String(options.seconds / 2)], { encoding: 'utf8' }));
		recorder.line({
			section: 'limits',
			work: `round trip of ${bytes === 1300 ? '1.3 KB' : '525 KB'} over loopback`,
			subject: 'network',
			kind: 'limit',
			connections: 1,
			perSecond,
			p50Ms: 1000 / perSecond,
			p99Ms: null,
			failed: 0,
			driver: 'loopback (C)',
			saturated: 'round trips',
		});
	}
}
