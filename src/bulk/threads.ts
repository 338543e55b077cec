import type { MessagePort } from 'node:worker_threads';
import type { Log } from '#core/log.ts';
import { Rounds } from '#core/rounds.ts';
import { TaskPool } from '#core/task-pool.ts';
import { threadCpuMs } from '#core/thread-time.ts';
import { LineNotes } from './line-notes.ts';
import type { ImportResult, ImportTask } from './task.ts';
import type { BulkWorkerSettings } from './worker.ts';

export interface BulkThreadOptions {
	/** The worker's entry file. */
	worker: URL;
	/** The largest number of threads. They end when there is nothing to do. */
	workers: number;
	settings: BulkWorkerSettings;
	log: Log;
}

/** A thread without work ends after this. The next job starts another. */
const threadIdleMs = 30_000;
/** Half of the smallest budget of processor time. */
const watchMs = 50;

function openPool({ worker, workers, settings }: BulkThreadOptions): TaskPool {
	return new TaskPool({
		filename: worker.href,
		workerData: settings,
		minThreads: 0,
		maxThreads: workers,
		idleTimeout: threadIdleMs,
		// While one task waits for the database, another's lines are checked. A job's tasks start in their order.
		concurrentTasksPerWorker: 2 + settings.limits.bulkRunningMax,
		atomics: 'disabled',
		// A chunk's garbage is collected early in a nursery of this size.
		resourceLimits: { maxYoungGenerationSizeMb: 128 },
	});
}

/** The threads of exports, which share them, and of imports. */
export class BulkThreads {
	readonly exports: TaskPool;
	readonly #options: BulkThreadOptions;
	readonly #all = new Set<ImportThreads>();
	readonly #free: ImportThreads[] = [];

	constructor(options: BulkThreadOptions) {
		this.#options = options;
		this.exports = openPool(options);
	}

	/** Returns threads that no other import has meanwhile: they may have to be ended because of a line. */
	ofImport(): ImportThreads {
		const threads = this.#free.pop() ?? new ImportThreads(this.#options);
		this.#all.add(threads);
		return threads;
	}

	giveBack(threads: ImportThreads): void {
		threads.reset();
		this.#free.push(threads);
	}

	async close(): Promise<void> {
		await Promise.all([this.exports.destroy(), ...[...this.#all].map((threads) => threads.close())]);
	}
}

/** Thrown for a chunk whose thread was ended because of a line, which may be one of another chunk of its import. */
export class ThreadsEnded extends Error {
	readonly line: number;
	/** Some lines of the chunk may be stored. */
	readonly isUnsure: boolean;

	constructor(line: number, isUnsure: boolean) {
		super('the threads of an import were ended');
		this.line = line;
		this.isUnsure = isUnsure;
	}
}

interface Given {
	notes: LineNotes;
	jobId: string;
	/** The line that was last seen, and the processor time of its thread at that moment. */
	piece: number | undefined;
	fromMs: number;
	/** Set when its thread is ended because of a line. */
	end: { line: number; done: Promise<void> } | undefined;
}

/**
 * The threads of one import. They are ended and replaced when a line takes too much processor time, since nothing else stops it: a profile of the site may
 * have an expression that never ends. The time counts from the first look that finds the line, as in `site/watchdog`.
 */
export class ImportThreads {
	readonly #options: BulkThreadOptions;
	readonly #given = new Set<Given>();
	readonly #rounds = new Rounds(watchMs, () => this.#look());
	#pool: TaskPool | undefined;
	#isWanted = true;

	constructor(options: BulkThreadOptions) {
		this.#options = options;
	}

	/** @throws ThreadsEnded */
	async run(task: Omit<ImportTask, 'notes' | 'port'>, port: MessagePort): Promise<ImportResult> {
		const notes = LineNotes.create();
		const given: Given = { notes, jobId: task.job.id, piece: undefined, fromMs: 0, end: undefined };
		this.#pool ??= openPool(this.#options);
		this.#given.add(given);
		this.#rounds.wake();
		try {
			return await this.#pool.run({ ...task, notes: notes.shared, port } satisfies ImportTask, { transferList: [port] });
		} catch (error) {
			if (given.end === undefined) throw error;
			await given.end.done;
			throw new ThreadsEnded(given.end.line, notes.isWriting);
		} finally {
			this.#given.delete(given);
		}
	}

	/** Nobody waits for the import any more: the line at work is not waited for. */
	stop(): void {
		this.#isWanted = false;
	}

	reset(): void {
		this.#isWanted = true;
	}

	async close(): Promise<void> {
		this.#rounds.stop();
		await this.#pool?.destroy();
	}

	#look(): boolean {
		for (const given of this.#given) {
			const line = this.#overAt(given);
			if (line === undefined) continue;
			this.#end(line);
			break;
		}
		return this.#given.size > 0;
	}

	/** Returns the line because of which the threads have to be ended. */
	#overAt(given: Given): number | undefined {
		const { notes } = given;
		const { work } = notes;
		const cpuMs = work === undefined ? 0 : threadCpuMs(notes.osThread, this.#pool?.threads ?? []);
		if (work?.piece !== given.piece) {
			given.piece = work?.piece;
			given.fromMs = cpuMs;
			return undefined;
		}
		if (work === undefined || given.end !== undefined) return undefined;
		const isTooLong = cpuMs - given.fromMs >= this.#options.settings.limits.importLineCpuMsMax;
		if (isTooLong && this.#isWanted) {
			const about = { jobId: given.jobId, line: work.line, cpuMs: cpuMs - given.fromMs };
			this.#options.log.error(about, 'threads of an import were ended, because a line took too much processor time');
		}
		return isTooLong || !this.#isWanted ? work.line : undefined;
	}

	#end(line: number): void {
		const done = this.#pool?.destroy() ?? Promise.resolve();
		this.#pool = undefined;
		for (const given of this.#given) given.end ??= { line, done };
	}
}
