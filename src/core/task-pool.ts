import type { Worker } from 'node:worker_threads';
import { Piscina } from 'piscina';
import { threadArguments } from './node-arguments.ts';

/**
 * Piscina requires a worker's module, and imports it only if that fails. Node.js ends the whole process if a thread is ended while it is about to carry out a
 * module that was required, as at the end of a service that has just begun; one that is imported ends alone.
 */
const importing = '--no-experimental-require-module';

/**
 * A Piscina that forgets no task. Piscina begins another thread when one ends, but not when that one ends before it has begun: tasks would then
 * wait for ever. Here they are rejected, and the next task has a thread begun for it.
 */
export class TaskPool extends Piscina {
	readonly #watched = new WeakSet<Worker>();

	constructor(options: ConstructorParameters<typeof Piscina>[0]) {
		super({ ...options, execArgv: [...threadArguments(), importing] });
	}

	override run(...given: Parameters<Piscina['run']>): ReturnType<Piscina['run']> {
		const result = super.run(...given);
		this.#watch();
		return result;
	}

	#watch(): void {
		for (const thread of this.threads) {
			if (this.#watched.has(thread)) continue;
			this.#watched.add(thread);
			thread.once('exit', () => {
				if (this.threads.length === 0) void this.destroy();
				else this.#watch();
			});
		}
	}
}
