import { createHash, type Hash } from 'node:crypto';
import { rm } from 'node:fs/promises';
import { areMany, Blocks, blockBytes, release } from './blocks.ts';
import { closeFile, storeFailure, writeAll } from './file-system.ts';
import type { FinishedObject, ObjectWriter } from './object-store.ts';

/** Above this many waiting bytes the sender is held back. Together with the bytes being written this is the memory of one object. */
const waitingBytesMax = 2 * blockBytes;

/** A file that has its name; `withdraw` removes it again and never rejects. */
export interface Placed {
	withdraw(): Promise<void>;
}

export interface FileWriterOptions {
	/** Makes the finished file visible under its key. Its old path is no longer needed when this resolves. */
	publish(temporary: string, key: string): Promise<Placed>;
	/** Makes the bytes written to the descriptor durable. */
	sync(fd: number): Promise<void>;
}

/** Writes one object to a temporary file. Chunks are gathered in blocks while the disk is busy. */
export class FileWriter implements ObjectWriter {
	readonly #path: string;
	readonly #options: FileWriterOptions;
	#hash = createHash('sha256');
	readonly #opened: Promise<number>;
	readonly #waiting = new Blocks();
	#bytes: number;
	#flushing: Promise<void> | undefined;
	/** The first error; nothing is written after it. */
	#trouble: unknown;
	#finishing: Promise<void> | undefined;
	#isClosed = false;
	#state: 'open' | 'finished' | 'ended' = 'open';

	constructor(path: string, opened: Promise<number>, head: Uint8Array, options: FileWriterOptions) {
		this.#path = path;
		this.#options = options;
		this.#waiting.add(head);
		this.#bytes = head.length;
		this.#opened = opened;
		opened.catch((error: unknown) => this.#fail(error));
	}

	#fail(error: unknown): void {
		this.#trouble ??= error ?? new Error('the disk gave no reason');
		release(this.#waiting.take());
	}

	write(chunk: Uint8Array): Promise<void> | undefined {
		// After the end, further chunks are dropped.
		if (this.#state !== 'open' || this.#trouble !== undefined) return undefined;
		this.#hash.update(chunk);
		this.#bytes += chunk.length;
		this.#waiting.add(chunk);
		if (this.#waiting.bytes >= blockBytes) this.#flushing ??= this.#flush();
		return this.#waiting.bytes >= (areMany() ? blockBytes : waitingBytesMax) ? this.#flushing : undefined;
	}

	/** Takes over an object from whoever has begun it: the digest of its content so far, and that content. */
	goOn(hash: Hash, content: readonly Uint8Array[]): void {
		this.#hash = hash;
		for (const piece of content) {
			this.#bytes += piece.length;
			this.#waiting.add(piece);
		}
		this.#flushing ??= this.#flush();
	}

	/** Writes the waiting bytes, and those that arrive meanwhile if they are enough again. Never rejects. */
	async #flush(): Promise<void> {
		try {
			const fd = await this.#opened;
			do {
				const blocks = this.#waiting.take();
				try {
					await writeAll(fd, blocks);
				} finally {
					release(blocks);
				}
			} while (this.#waiting.bytes >= blockBytes);
		} catch (error) {
			this.#fail(error);
		}
		this.#flushing = undefined;
	}

	finish(): Promise<FinishedObject> {
		if (this.#state !== 'open') return Promise.reject(new Error('the object is finished'));
		this.#state = 'finished';
		const finished = this.#finish();
		this.#finishing = finished.then(
			() => undefined,
			() => undefined,
		);
		return finished;
	}

	async #finish(): Promise<FinishedObject> {
		try {
			await this.#flushing;
			await this.#flush();
			if (this.#trouble !== undefined) throw this.#trouble;
		} catch (error) {
			await this.#discard();
			throw storeFailure(error);
		}
		return { bytes: this.#bytes, digest: this.#hash.digest('hex') };
	}

	/**
	 * The name and the content become durable at the same time, mostly in one commit of the file system's journal. After a loss of power in
	 * between, the name may exist without the content. No row knows it then, and `sweepObjects` finds it.
	 */
	async publish(key: string): Promise<string> {
		if (this.#state !== 'finished') throw new Error('the object is not finished');
		const placed = this.#options.publish(this.#path, key);
		const results = await Promise.allSettled([this.#opened.then((fd) => this.#options.sync(fd)), placed]);
		const failed = results.find((result) => result.status === 'rejected');
		if (failed) {
			await placed.then(
				({ withdraw }) => withdraw(),
				() => undefined,
			);
			await this.#discard();
			throw storeFailure(failed.reason);
		}
		this.#state = 'ended';
		// The result of closing does not matter, because synced bytes are safe.
		void this.#close().catch(() => undefined);
		return key;
	}

	async abandon(): Promise<void> {
		if (this.#state === 'ended') return;
		if (this.#state === 'open') this.#fail(new Error('the object was abandoned'));
		// A descriptor must not be closed while a sync uses it.
		await this.#finishing;
		await this.#discard();
	}

	async #discard(): Promise<void> {
		if (this.#state === 'ended') return;
		this.#state = 'ended';
		await this.#flushing;
		// A file that cannot be closed or removed now is removed at the next start.
		await this.#close().catch(() => undefined);
		await rm(this.#path, { force: true }).catch(() => undefined);
	}

	async #close(): Promise<void> {
		if (this.#isClosed) return;
		this.#isClosed = true;
		const fd = await this.#opened.catch(() => undefined);
		if (fd !== undefined) await closeFile(fd);
	}
}
