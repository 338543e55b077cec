import { readFileSync } from 'node:fs';
import type { Worker } from 'node:worker_threads';
import { TaskPool } from '#core/task-pool.ts';
import type { IngestTask, IngestTaskResult } from './task.ts';

/** One thread, which processes several batches at a time. A thread that ends is followed by another. */
export interface WorkerPool {
	readonly threads: readonly unknown[];
	/** Returns the processor time that the thread has taken so far, in milliseconds. */
	cpuMs(osThread: number): number;
	run(task: IngestTask, options: { transferList: ArrayBuffer[] }): Promise<IngestTaskResult>;
	/** Ends the thread, whatever it is doing; what it was given is rejected. */
	destroy(): Promise<void>;
}

/** Opens a thread that keeps these notes of its work, and has so many batches at a time. */
export type OpenPool = (notes: SharedArrayBuffer, batches: number) => WorkerPool;

/** Returns the processor time of a thread of this process, which Linux counts in hundredths of a second; undefined elsewhere. */
function threadCpuMs(osThread: number): number | undefined {
	if (osThread === 0) return undefined;
	try {
		const stat = readFileSync(`/proc/self/task/${osThread}/stat`, 'latin1');
		// The name of the thread may hold spaces; it ends with the last bracket.
		const [user, system] = stat
			.slice(stat.lastIndexOf(')') + 2)
			.split(' ')
			.slice(11, 13);
		return (Number(user) + Number(system)) * 10;
	} catch {
		return undefined;
	}
}

/** Opens a Piscina of one thread. */
export function openPiscina(worker: URL, settings: unknown, notes: SharedArrayBuffer, batches: number): WorkerPool {
	const pool = new TaskPool({
		filename: worker.href,
		workerData: { settings, notes },
		minThreads: 1,
		maxThreads: 1,
		idleTimeout: Number.POSITIVE_INFINITY,
		concurrentTasksPerWorker: batches,
		// With Atomics.wait the database sockets of an idle worker freeze.
		atomics: 'disabled',
		// A batch's garbage is collected early in a nursery of this size. With the default of 16 MiB the collector takes a sixth of the time.
		resourceLimits: { maxYoungGenerationSizeMb: 128 },
	});
	return {
		get threads() {
			return pool.threads;
		},
		// Elsewhere than on Linux the busy time of the thread's event loop stands in. It also counts time that the processor gave to others.
		cpuMs: (osThread) => threadCpuMs(osThread) ?? busyMs(pool.threads),
		run: (task, options) => pool.run(task, options),
		destroy: () => pool.destroy(),
	};
}

function busyMs(threads: readonly Worker[]): number {
	return threads.reduce((busy, { performance }) => busy + performance.eventLoopUtilization().active, 0);
}
