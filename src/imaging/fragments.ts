import { Failure } from '#core/failure.ts';
import type { StoredDataSet } from './stored-data-set.ts';

/** A range of bytes in the data set; the end is exclusive. */
export interface Extent {
	start: number;
	end: number;
}

/** A buffer size. */
const windowBytes = 65_536;
/** No instance has as many. */
const fragmentsMax = 1_000_000;
const item = 0xff_fe_e0_00;
const sequenceDelimiter = 0xff_fe_e0_dd;

/** Reads short stretches of a data set around the positions that are needed. */
class Window {
	readonly #dataSet: StoredDataSet;
	#start = 0;
	#bytes: Buffer = Buffer.alloc(0);

	constructor(dataSet: StoredDataSet) {
		this.#dataSet = dataSet;
	}

	async bytesAt(at: number, count: number): Promise<Buffer> {
		if (at < this.#start || at + count > this.#start + this.#bytes.length) {
			if (at + count > (this.#dataSet.length ?? 0)) throw broken();
			const chunks: Uint8Array[] = [];
			for await (const chunk of this.#dataSet.read(at, at + Math.max(count, windowBytes))) chunks.push(chunk);
			this.#bytes = Buffer.concat(chunks);
			this.#start = at;
			if (this.#bytes.length < count) throw broken();
		}
		return this.#bytes.subarray(at - this.#start, at - this.#start + count);
	}
}

/**
 * The first bytes of a compressed image: SOI of JPEG and JPEG-LS, SOC and SIZ of JPEG 2000, and the signature of a JP2 file. Within a codestream the
 * first two cannot occur (ISO/IEC 10918-1 §B.1.1.5, ISO/IEC 15444-1 §A.1).
 */
const streamStarts = ['ffd8ff', 'ff4fff51', '0000000c6a502020'].map((hex) => Buffer.from(hex, 'hex'));
const startBytesMax = 8;

function broken(): Failure {
	return new Failure('not-acceptable', 'the fragments of the pixel data cannot be told apart; the instance can be retrieved whole');
}

/** The fragments of encapsulated pixel data (PS3.5 §A.4) and its basic offset table. */
export class Fragments {
	readonly #window: Window;
	/** The offset of the first fragment, including its item header. */
	readonly #from: number;
	/** The offset of each frame relative to `#from`; empty without a table. */
	readonly offsets: readonly number[];

	private constructor(window: Window, from: number, offsets: readonly number[]) {
		this.#window = window;
		this.#from = from;
		this.offsets = offsets;
	}

	/** Opens the pixel data. `at` is the offset of the basic offset table. @throws Failure `not-acceptable` when there is no such item */
	static async open(dataSet: StoredDataSet, at: number): Promise<Fragments> {
		const window = new Window(dataSet);
		const { tag, length } = header(await window.bytesAt(at, 8));
		if (tag !== item || length > 4 * fragmentsMax) throw broken();
		const table = await window.bytesAt(at + 8, length);
		const offsets: number[] = [];
		for (let entry = 0; entry + 4 <= table.length; entry += 4) offsets.push(table.readUInt32LE(entry));
		return new Fragments(window, at + 8 + length, offsets);
	}

	/** Returns all fragments. @throws Failure `not-acceptable` */
	async extents(): Promise<Extent[]> {
		const extents = await this.between();
		if (extents === undefined) throw broken();
		return extents;
	}

	/** Returns the fragments from one offset of the table up to another, or to the end; undefined if one of these is not the start of a fragment. */
	async between(from = 0, to?: number): Promise<Extent[] | undefined> {
		const extents: Extent[] = [];
		const end = this.#from + (to ?? Number.POSITIVE_INFINITY);
		let at = this.#from + from;
		while (at < end) {
			const { tag, length } = await this.#headerAt(at);
			if (tag === sequenceDelimiter && to === undefined) break;
			if (tag !== item || extents.length === fragmentsMax) return undefined;
			extents.push({ start: at + 8, end: at + 8 + length });
			at += 8 + length;
		}
		const isWhole = to === undefined || (at === end && (await this.#headerAt(at)).tag === item);
		return isWhole && extents.length > 0 ? extents : undefined;
	}

	/** Returns tag 0 where the data set ends before. */
	async #headerAt(at: number): Promise<{ tag: number; length: number }> {
		const bytes = await this.#window.bytesAt(at, 8).catch((error: unknown) => {
			if (error instanceof Failure && error.code === 'not-acceptable') return undefined;
			throw error;
		});
		return bytes ? header(bytes) : { tag: 0, length: 0 };
	}

	/** Groups fragments by the compressed image that they belong to: one begins with each fragment that has the first bytes of one. */
	async streams(extents: readonly Extent[]): Promise<Extent[][]> {
		const streams: Extent[][] = [];
		for (const extent of extents) {
			const begun = streams.at(-1);
			if (begun === undefined || (await this.#isStart(extent))) streams.push([extent]);
			else begun.push(extent);
		}
		return streams;
	}

	async #isStart({ start, end }: Extent): Promise<boolean> {
		const bytes = await this.#window.bytesAt(start, Math.min(startBytesMax, end - start));
		return streamStarts.some((signature) => signature.equals(bytes.subarray(0, signature.length)));
	}
}

/** Encapsulated data sets are little endian (PS3.5 §A.4). */
function header(bytes: Buffer): { tag: number; length: number } {
	return { tag: bytes.readUInt16LE(0) * 0x1_00_00 + bytes.readUInt16LE(2), length: bytes.readUInt32LE(4) };
}
