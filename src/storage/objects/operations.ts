import { Failure } from '#core/failure.ts';
import type { StorageMetrics, StoreOperation } from '../metrics.ts';

type Outcome = 'done' | 'missing' | 'failed';

/** Notes how long the operations of an object store take, as their callers wait for them. */
export class Operations {
	readonly #metrics: Pick<StorageMetrics, 'operationSeconds'>;

	constructor(metrics: Pick<StorageMetrics, 'operationSeconds'>) {
		this.#metrics = metrics;
	}

	/** Returns the outcome of some work. @param isMissing tells of an outcome that there was no object */
	async timed<T>(operation: StoreOperation, work: Promise<T>, isMissing: (value: T) => boolean = () => false): Promise<T> {
		const startMs = performance.now();
		const note = (outcome: Outcome) => this.#metrics.operationSeconds.observe({ operation, outcome }, (performance.now() - startMs) / 1000);
		try {
			const value = await work;
			note(isMissing(value) ? 'missing' : 'done');
			return value;
		} catch (error) {
			note(error instanceof Failure && error.code === 'not-found' ? 'missing' : 'failed');
			throw error;
		}
	}
}
