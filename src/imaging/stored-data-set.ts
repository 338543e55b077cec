import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createInflateRaw } from 'node:zlib';
import { Failure } from '#core/failure.ts';
import { FileMetaReader } from '#dicom/part10.ts';
import { encodingOf } from '#dicom/transfer-syntax.ts';
import type { ObjectStore } from '#storage/objects/object-store.ts';

/** An object of the store that is read. */
export interface ReadObject {
	objectKey: string;
	transferSyntaxUid: string;
	/** The length of the file including its head. */
	bytes: number;
}

/** The heads that this service writes are shorter. */
const headBytesMax = 65_536;

/** The data set of a file in the object store. */
export class StoredDataSet {
	readonly instance: ReadObject;
	readonly #objects: Pick<ObjectStore, 'read' | 'size'>;
	#headBytes: number | undefined;

	constructor(objects: Pick<ObjectStore, 'read' | 'size'>, instance: ReadObject) {
		this.#objects = objects;
		this.instance = instance;
	}

	get isDeflated(): boolean {
		return encodingOf(this.instance.transferSyntaxUid).deflated;
	}

	/** The length of the data set in bytes, if it is known without inflating. Call it only after `feed`. */
	get length(): number | undefined {
		return this.isDeflated ? undefined : this.instance.bytes - this.#headLength();
	}

	#headLength(): number {
		if (this.#headBytes === undefined) throw new Error('it is not known where the data set begins');
		return this.#headBytes;
	}

	/** Feeds the bytes to a reader until it needs no more; deflated bytes are inflated. @throws Failure as the object store does */
	async feed(reader: { feed(chunk: Uint8Array): boolean }): Promise<void> {
		const head = new FileMetaReader(headBytesMax);
		let isBehind = false;
		for await (const bytes of this.#objects.read(this.instance.objectKey)) {
			let chunk = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
			if (!isBehind) {
				if (head.feed(chunk)) continue;
				const { meta, rest } = head.end();
				this.#headBytes = meta.dataSetOffset;
				isBehind = true;
				chunk = rest;
			}
			if (!reader.feed(chunk)) return;
		}
	}

	/** Reads bytes of the data set; a deflated one is inflated. Call it only after `feed`. */
	read(start: number, end: number): AsyncIterable<Uint8Array> {
		const head = this.#headLength();
		return this.isDeflated
			? this.#inflated(head, start, end)
			: this.#objects.read(this.instance.objectKey, { start: head + start, end: head + end });
	}

	async *#inflated(head: number, start: number, end: number): AsyncGenerator<Uint8Array> {
		const size = await this.#objects.size(this.instance.objectKey);
		if (size === undefined) throw new Failure('not-found', 'the object is not in the store');
		const inflate = createInflateRaw();
		const source = Readable.from(this.#objects.read(this.instance.objectKey, { start: head, end: size }), { objectMode: false });
		const fed = pipeline(source, inflate);
		// The stream passes the failure to the reader; this promise would only repeat it.
		fed.catch(() => undefined);
		let at = 0;
		for await (const chunk of inflate as AsyncIterable<Buffer>) {
			const piece = chunk.subarray(Math.max(0, start - at), Math.max(0, end - at));
			at += chunk.length;
			if (piece.length > 0) yield piece;
			if (at >= end) return;
		}
	}
}
