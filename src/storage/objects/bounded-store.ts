import type { StoreOperation, StoreStep } from '../metrics.ts';
import type {
	ByteRange,
	FinishedObject,
	ListedObject,
	ObjectDescription,
	ObjectStore,
	ObjectWriter,
	PlacedObject,
} from './object-store.ts';
import type { Operations } from './operations.ts';
import type { StoreHealth } from './store-health.ts';
import { noAnswer, type TimeLimit } from './time-limit.ts';

export interface BoundedStoreOptions {
	store: ObjectStore;
	limit: TimeLimit;
	health: StoreHealth;
	operations: Operations;
	/** False where publishing transfers the whole object, and watches over its progress itself. */
	isPublishingBounded: boolean;
}

/** The operation that each step asks of the store, in the words of its metric. */
const operationOf = { size: 'head', read: 'get', remove: 'delete', move: 'move', list: 'list' } as const satisfies Partial<
	Record<StoreStep, StoreOperation>
>;
type AskingStep = keyof typeof operationOf;

/**
 * An object store whose callers never wait for long: a step that takes too long is refused as `unavailable`. While a step hangs, or the store is not
 * well, nothing new is begun.
 */
export class BoundedStore implements ObjectStore {
	readonly #options: BoundedStoreOptions;

	constructor(options: BoundedStoreOptions) {
		this.#options = options;
	}

	get #isRefusing(): boolean {
		const { limit, health } = this.#options;
		return limit.isHanging || health.isHanging;
	}

	begin(head: Uint8Array): ObjectWriter {
		return this.#isRefusing ? refusing : new BoundedWriter(this.#options.store.begin(head), this.#options);
	}

	/** Carries out a step, or refuses it. What is refused is not asked of the store, and so not timed. */
	#step<T>(step: AskingStep, work: () => Promise<T>, isMissing?: (value: T) => boolean): Promise<T> {
		if (this.#isRefusing) return Promise.reject(noAnswer());
		return this.#options.operations.timed(operationOf[step], this.#options.limit.of(step, work()), isMissing);
	}

	size(key: string): Promise<number | undefined> {
		return this.#step(
			'size',
			() => this.#options.store.size(key),
			(bytes) => bytes === undefined,
		);
	}

	read(key: string, range?: ByteRange): AsyncIterable<Uint8Array> {
		return this.#pieces('read', () => this.#options.store.read(key, range));
	}

	remove(key: string): Promise<boolean> {
		return this.#step(
			'remove',
			() => this.#options.store.remove(key),
			(wasThere) => !wasThere,
		);
	}

	move(from: string, to: string): Promise<void> {
		return this.#step('move', () => this.#options.store.move(from, to));
	}

	list(): AsyncIterable<ListedObject> {
		return this.#pieces('list', () => this.#options.store.list());
	}

	async *#pieces<T>(step: AskingStep, begin: () => AsyncIterable<T>): AsyncIterable<T> {
		if (this.#isRefusing) throw noAnswer();
		const { limit, operations } = this.#options;
		const pieces = begin()[Symbol.asyncIterator]();
		let isOver = false;
		try {
			for (let isFirst = true; ; isFirst = false) {
				const next = limit.of(step, pieces.next());
				// The reader decides when the others come.
				const { done, value } = await (isFirst ? operations.timed(operationOf[step], next) : next);
				if (done) {
					isOver = true;
					return;
				}
				yield value;
			}
		} finally {
			// A reader that hangs is ended when it goes on.
			if (!isOver) void pieces.return?.().catch(() => undefined);
		}
	}

	removeTemporary(): Promise<number> {
		return this.#options.store.removeTemporary();
	}

	expectAnswer(): void {
		if (this.#isRefusing) throw noAnswer();
	}

	probe(signal?: AbortSignal): Promise<void> {
		return this.#options.store.probe(signal);
	}

	async close(): Promise<void> {
		this.#options.health.close();
		// A disk that hangs must not keep the process.
		await this.#options.limit.of('close', this.#options.store.close()).catch(() => undefined);
	}
}

/** Takes the bytes of an object that the store would not take: the sender is answered when they are all read. */
const refusing: ObjectWriter = {
	write: () => undefined,
	finish: () => Promise.reject(noAnswer()),
	publish: () => Promise.reject(noAnswer()),
	abandon: () => Promise.resolve(),
};

class BoundedWriter implements ObjectWriter {
	readonly #writer: ObjectWriter;
	readonly #options: BoundedStoreOptions;
	#isHanging = false;

	constructor(writer: ObjectWriter, options: BoundedStoreOptions) {
		this.#writer = writer;
		this.#options = options;
	}

	write(chunk: Uint8Array): Promise<void> | undefined {
		if (this.#isHanging) return undefined;
		const held = this.#writer.write(chunk);
		return held && this.#held(held);
	}

	/** Resolves when the sender may go on, if only to be refused. */
	async #held(held: Promise<void>): Promise<void> {
		try {
			await this.#options.limit.of('write', held, () => this.#writer.abandon());
		} catch {
			this.#isHanging = true;
		}
	}

	async finish(): Promise<FinishedObject> {
		if (this.#isHanging) throw noAnswer();
		return this.#options.limit.of('finish', this.#writer.finish(), () => this.#writer.abandon());
	}

	async publish(key: string, about: ObjectDescription): Promise<string> {
		if (this.#isHanging) throw noAnswer();
		const { operations, limit, store, isPublishingBounded } = this.#options;
		const published = this.#writer.publish(key, about);
		return operations.timed('put', isPublishingBounded ? limit.of('publish', published, (placed) => store.remove(placed)) : published);
	}

	place(key: string, about: ObjectDescription): PlacedObject | undefined {
		const placed = this.#isHanging ? undefined : this.#writer.place?.(key, about);
		if (placed === undefined) return undefined;
		const { operations, limit, store } = this.#options;
		const durable = limit.of('publish', placed.durable, () => store.remove(placed.key));
		return { key: placed.key, durable: operations.timed('put', durable) };
	}

	async abandon(): Promise<void> {
		if (this.#isHanging) return;
		await this.#options.limit.of('abandon', this.#writer.abandon()).catch(() => undefined);
	}
}
