import { Failure } from '#core/failure.ts';
import type { Log } from '#core/log.ts';
import { TaskPool } from '#core/task-pool.ts';
import type { RenderingLimits } from './limits.ts';
import type { RenderingMetrics } from './metrics.ts';
import type { RenderingResult, RenderingTask } from './task.ts';

/** A thread that has been idle for this long ends, and gives back the memory of its codecs. */
const idleMs = 30_000;
/** The heap of JavaScript in a thread. The bytes of pictures lie outside. */
const heapMb = 256;
const retryAfterSeconds = 2;

interface Options {
	worker: URL;
	limits: Pick<RenderingLimits, 'renderedMsMax' | 'renderingsMax' | 'renderingsWaitingMax'>;
	metrics: Pick<RenderingMetrics, 'renderedFrames'>;
	log: Log;
}

/** The threads in which pictures are made. A frame that takes too long, or breaks its decoder, ends its thread and nothing else. */
export class RenderingThreads {
	readonly #options: Options;
	readonly #pool: TaskPool;
	readonly #waiting: (() => void)[] = [];
	#running = 0;

	constructor(options: Options) {
		this.#options = options;
		const { worker, limits } = options;
		this.#pool = new TaskPool({
			filename: worker.href,
			minThreads: 0,
			maxThreads: limits.renderingsMax,
			idleTimeout: idleMs,
			concurrentTasksPerWorker: 1,
			atomics: 'disabled',
			resourceLimits: { maxOldGenerationSizeMb: heapMb },
		});
	}

	/**
	 * Waits for a turn, has a task prepared and carries it out. Nothing of an image is in memory before its turn.
	 * @throws Failure `unavailable` when too many wait, `too-costly`, `not-acceptable`, and as `prepare` does
	 */
	async run(prepare: () => Promise<RenderingTask>): Promise<Uint8Array> {
		await this.#turn();
		try {
			return await this.#carryOut(await prepare());
		} finally {
			const next = this.#waiting.shift();
			if (next) next();
			else this.#running--;
		}
	}

	close(): Promise<void> {
		return this.#pool.destroy();
	}

	async #turn(): Promise<void> {
		const { limits, metrics } = this.#options;
		if (this.#running < limits.renderingsMax) {
			this.#running++;
			return;
		}
		if (this.#waiting.length >= limits.renderingsWaitingMax) {
			metrics.renderedFrames.inc({ result: 'busy' });
			throw new Failure('unavailable', 'too many pictures wait to be rendered', { retryAfterSeconds });
		}
		await new Promise<void>((resolve) => this.#waiting.push(resolve));
	}

	async #carryOut(task: RenderingTask): Promise<Uint8Array> {
		const { limits, metrics, log } = this.#options;
		const signal = AbortSignal.timeout(limits.renderedMsMax);
		let result: RenderingResult;
		try {
			result = await this.#pool.run(task, { signal });
		} catch (error) {
			metrics.renderedFrames.inc({ result: signal.aborted ? 'expired' : 'failed' });
			log.warn({ err: error, transferSyntax: task.transferSyntaxUid }, 'a frame could not be rendered');
			if (signal.aborted)
				throw new Failure('too-costly', `the picture could not be rendered within ${limits.renderedMsMax} ms`, { cause: error });
			throw new Failure('not-acceptable', 'the pixel data of the image could not be decoded', { cause: error });
		}
		metrics.renderedFrames.inc({ result: result.kind });
		if (result.kind === 'refused') throw new Failure('not-acceptable', result.reason);
		return result.bytes;
	}
}
