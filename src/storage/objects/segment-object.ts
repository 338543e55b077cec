import { createHash } from 'node:crypto';
import { Blocks, blocksInUse, release } from './blocks.ts';
import type { FileWriter } from './file-writer.ts';
import type { FinishedObject, ObjectDescription, ObjectWriter, PlacedObject } from './object-store.ts';
import { pageBytes } from './segment-format.ts';
import { checksumOf, isLarge, type SegmentWriter } from './segment-writer.ts';

export interface SegmentObjectOptions {
	segments: SegmentWriter;
	/** A longer object becomes a file of its own. With infinity none does, however many are gathered. */
	objectBytesMax: number;
	/** Begins that file. */
	beginFile(): FileWriter;
}

/** A bound of memory, 128 MiB for a thread. Beyond it objects become files, which need two blocks each; nobody is refused for it. */
const gatheredBlocksMax = 512;
/** Its place is where the head of the record will be. */
const noHead = Buffer.alloc(pageBytes);

/** An object that is gathered in memory, and appended to a segment when all of it is there. */
export class SegmentObject implements ObjectWriter {
	readonly #options: SegmentObjectOptions;
	readonly #head: Uint8Array;
	readonly #hash = createHash('sha256');
	readonly #gathered = new Blocks();
	#taken: Buffer[] = [];
	#file: FileWriter | undefined;
	#state: 'open' | 'finished' | 'publishing' | 'ended' = 'open';
	#digest = '';
	#bytes = 0;

	constructor(head: Uint8Array, options: SegmentObjectOptions) {
		this.#head = head;
		this.#options = options;
		this.#gathered.add(noHead);
		this.#gathered.add(head);
	}

	write(chunk: Uint8Array): Promise<void> | undefined {
		if (this.#file) return this.#file.write(chunk);
		if (this.#state !== 'open') return undefined;
		const bytes = this.#gathered.bytes - pageBytes + chunk.length;
		const { objectBytesMax } = this.#options;
		if (bytes > objectBytesMax || (blocksInUse() > gatheredBlocksMax && Number.isFinite(objectBytesMax)))
			return this.#becomeFile().write(chunk);
		this.#hash.update(chunk);
		this.#gathered.add(chunk);
		return undefined;
	}

	/** Goes on as a file of its own: the object is long, or many objects arrive at the same time. */
	#becomeFile(): FileWriter {
		const file = this.#options.beginFile();
		this.#file = file;
		const blocks = this.#gathered.take();
		const [first, ...others] = blocks;
		file.goOn(this.#hash, [...(first ? [first.subarray(pageBytes + this.#head.length)] : []), ...others]);
		release(blocks);
		return file;
	}

	async finish(): Promise<FinishedObject> {
		if (this.#file) return this.#file.finish();
		if (this.#state !== 'open') throw new Error('the object is finished');
		this.#state = 'finished';
		this.#bytes = this.#gathered.bytes - pageBytes;
		this.#digest = this.#hash.digest('hex');
		this.#taken = this.#gathered.take();
		return { bytes: this.#bytes, digest: this.#digest };
	}

	async publish(key: string, about: ObjectDescription): Promise<string> {
		if (this.#file) return this.#file.publish(key);
		const placed = this.#append(key, about);
		await placed.durable;
		return placed.key;
	}

	place(key: string, about: ObjectDescription): PlacedObject | undefined {
		return this.#file ? undefined : this.#append(key, about);
	}

	#append(key: string, about: ObjectDescription): PlacedObject {
		if (this.#state !== 'finished') throw new Error('the object is not finished');
		this.#state = 'publishing';
		const [bytes, digest, preambleBytes] = [this.#bytes, this.#digest, this.#head.length];
		const content = { pieces: this.#content(), bytes, digest, preambleBytes, preambleChecksum: checksumOf(this.#head) };
		const ended = () => {
			this.#state = 'ended';
			this.#release();
		};
		try {
			const placed = this.#options.segments.append(key, about, content, isLarge(bytes) ? this.#taken : undefined);
			return { key: placed.key, durable: placed.durable.finally(ended) };
		} catch (error) {
			ended();
			throw error;
		}
	}

	#content(): Buffer[] {
		const [first, ...others] = this.#taken;
		return first ? [first.subarray(pageBytes), ...others] : [];
	}

	/** A record whose bytes are on their way to the disk keeps its memory until they are there. */
	async abandon(): Promise<void> {
		if (this.#file) return this.#file.abandon();
		if (this.#state === 'publishing' || this.#state === 'ended') return;
		if (this.#state === 'open') this.#taken = this.#gathered.take();
		this.#state = 'ended';
		this.#release();
	}

	#release(): void {
		release(this.#taken.splice(0));
	}
}
