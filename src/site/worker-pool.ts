import { TaskPool } from '#core/task-pool.ts';
import { threadCpuMs } from '#core/thread-time.ts';
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
		cpuMs: (osThread) => threadCpuMs(osThread, pool.threads),
		run: (task, options) => pool.run(task, options),
		destroy: () => pool.destroy(),
	};
}
