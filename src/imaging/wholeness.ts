import { createInflateRaw, type InflateRaw } from 'node:zlib';
import { Failure } from '#core/failure.ts';
import type { DataSetFault } from '#dicom/fault.ts';
import { encodingOf } from '#dicom/transfer-syntax.ts';
import { WholenessReader } from '#dicom/wholeness.ts';
import type { ObjectStore } from '#storage/objects/object-store.ts';
import { dataSetOf } from './archive.ts';
import { headOf } from './stored-head.ts';

/**
 * Inflates a deflated data set while it arrives and tells whether it is cut off. zlib inflates in its own threads; what comes out is walked
 * through and dropped.
 */
export class InflatedWholeness {
	readonly #inflate: InflateRaw = createInflateRaw();
	readonly #reader: WholenessReader;
	readonly #ended: Promise<void>;
	#inflated = 0;
	#fault: DataSetFault | undefined;

	/** `bytesMax`: what a data set may inflate to. */
	constructor(transferSyntaxUid: string, bytesMax: number) {
		this.#reader = new WholenessReader(transferSyntaxUid);
		this.#ended = new Promise((resolve) => {
			this.#inflate.once('close', resolve);
		});
		this.#inflate.on('data', (piece: Buffer) => {
			this.#inflated += piece.length;
			if (this.#inflated > bytesMax) this.#stop({ kind: 'too-large', text: 'the data set inflates to more than is stored' });
			else this.#reader.feed(piece);
		});
		this.#inflate.on('error', ({ code }: NodeJS.ErrnoException) => {
			const isCut = code === 'Z_BUF_ERROR';
			this.#stop({
				kind: isCut ? 'truncated' : 'encoding',
				text: `the ${isCut ? 'deflated data set is not whole' : 'data set is not deflated'}`,
			});
		});
	}

	/** The chunk is not kept. A promise means that enough waits to be inflated. It never rejects. */
	write(chunk: Uint8Array): Promise<void> | undefined {
		if (this.#inflate.destroyed || this.#inflate.writableEnded || this.#inflate.write(Buffer.from(chunk))) return undefined;
		const drained = new Promise<void>((resolve) => {
			this.#inflate.once('drain', resolve);
		});
		return Promise.race([drained, this.#ended]);
	}

	/** The last byte was written: the fault, if there is one. Never rejects. */
	async finish(): Promise<DataSetFault | undefined> {
		this.#inflate.end();
		await this.#ended;
		return this.#fault ?? this.#reader.cut();
	}

	abandon(): void {
		this.#inflate.destroy();
	}

	#stop(fault: DataSetFault): void {
		this.#fault ??= fault;
		this.#inflate.destroy();
	}
}

/** The head that `part10Head` writes is shorter, and most headers of elements are too. */
const windowBytes = 64 * 1024;

/**
 * Tells whether a stored object is whole: it has its length, and its last element ends where the object ends. Values are not read, except
 * those of a deflated data set.
 * @throws Failure `unavailable` when the store cannot be asked
 */
export async function isWhole(objects: Pick<ObjectStore, 'size' | 'read'>, key: string, bytes: number): Promise<boolean> {
	if ((await objects.size(key)) !== bytes) return false;
	const window = async (at: number) => {
		const pieces: Uint8Array[] = [];
		for await (const piece of objects.read(key, { start: at, end: Math.min(bytes, at + windowBytes) })) pieces.push(piece);
		return Buffer.concat(pieces);
	};
	const first = await window(0);
	const { headBytes: offset, transferSyntaxUid } = headOf(first) ?? {};
	if (offset === undefined || transferSyntaxUid === undefined) return false;
	if (encodingOf(transferSyntaxUid).deflated) {
		const inflated = new InflatedWholeness(transferSyntaxUid, Number.POSITIVE_INFINITY);
		for await (const piece of objects.read(key, { start: offset, end: bytes })) await inflated.write(piece);
		return (await inflated.finish()) === undefined;
	}
	const reader = new WholenessReader(transferSyntaxUid);
	let at = first.length;
	let canWalk = reader.feed(first.subarray(offset));
	while (canWalk && at < bytes) {
		at += reader.passOver(bytes - at);
		if (at >= bytes) break;
		const piece = await window(at);
		canWalk = reader.feed(piece);
		at += piece.length;
	}
	return reader.cut() === undefined;
}

/**
 * Tells whether the data set of an object begins with the whole data set of another, `beginning`, and goes on behind it. One that is not
 * there, or cannot be read as a file of this service, is no beginning.
 * @throws Failure `unavailable`
 */
export async function isContinued(objects: Pick<ObjectStore, 'read'>, key: string, beginning: string): Promise<boolean> {
	const longer = new Pieces(dataSetOf(objects, key));
	try {
		for await (const piece of dataSetOf(objects, beginning)) {
			for (let at = 0; at < piece.length; ) {
				const other = await longer.next(piece.length - at);
				if (other === undefined || Buffer.compare(other, piece.subarray(at, at + other.length)) !== 0) return false;
				at += other.length;
			}
		}
		return (await longer.next(1)) !== undefined;
	} catch (error) {
		if (error instanceof Failure && error.code !== 'unavailable') return false;
		throw error;
	} finally {
		await longer.end();
	}
}

/** Bytes that come in pieces of any size, taken in pieces of a size at most. */
class Pieces {
	readonly #source: AsyncIterator<Uint8Array>;
	#rest: Uint8Array = Buffer.alloc(0);

	constructor(source: AsyncIterable<Uint8Array>) {
		this.#source = source[Symbol.asyncIterator]();
	}

	/** Returns undefined at the end. */
	async next(most: number): Promise<Uint8Array | undefined> {
		while (this.#rest.length === 0) {
			const next = await this.#source.next();
			if (next.done) return undefined;
			this.#rest = next.value;
		}
		const piece = this.#rest.subarray(0, most);
		this.#rest = this.#rest.subarray(piece.length);
		return piece;
	}

	async end(): Promise<void> {
		await this.#source.return?.();
	}
}
