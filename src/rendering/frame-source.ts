import { Failure } from '#core/failure.ts';
import { encodingOf } from '#dicom/transfer-syntax.ts';
import type { Extent } from '#imaging/fragments.ts';
import { type FrameTable, frameTable } from '#imaging/frame-extents.ts';
import { StoredDataSet } from '#imaging/stored-data-set.ts';
import { firstValue, pixelPaths, type StoredValue } from '#imaging/stored-value.ts';
import type { RetrievableInstance } from '#record/imaging-query.ts';
import type { ObjectStore } from '#storage/objects/object-store.ts';
import type { RenderingTask } from './task.ts';

/** A compressed frame is not longer than the samples that it stands for, save for what surrounds it. */
const surroundingBytes = 1024 * 1024;

interface Bounds {
	/** DICOM_METADATA_BYTES_MAX */
	headerBytesMax: number;
	pixelsMax: number;
}

/** The image of an instance in the object store, with the place of its pixel data. */
export class FrameSource {
	readonly #dataSet: StoredDataSet;
	readonly #value: StoredValue['value'];
	readonly #shape: StoredValue['shape'];
	readonly #isFloat: boolean;
	#table: Promise<FrameTable> | undefined;

	private constructor(dataSet: StoredDataSet, { value, shape, path }: StoredValue) {
		this.#dataSet = dataSet;
		this.#value = value;
		this.#shape = shape;
		this.#isFloat = path !== pixelPaths[0];
	}

	/** @throws Failure `not-acceptable` when the instance has no image or one that is too large, and as the object store does */
	static async open(objects: Pick<ObjectStore, 'read' | 'size'>, instance: RetrievableInstance, bounds: Bounds): Promise<FrameSource> {
		const dataSet = new StoredDataSet(objects, instance);
		const found = await firstValue(dataSet, pixelPaths, bounds.headerBytesMax);
		if (found === undefined) throw new Failure('not-acceptable', 'the instance has no image');
		if ('fault' in found) throw new Failure('not-acceptable', `the instance cannot be rendered: ${found.fault.text}`);
		const { value, shape } = found;
		if (value.offset > bounds.headerBytesMax) throw new Failure('not-acceptable', 'the elements before the pixel data are too large');
		if ((shape.rows ?? 0) * (shape.columns ?? 0) > bounds.pixelsMax) {
			throw new Failure('not-acceptable', `the image has more than ${bounds.pixelsMax} pixels`);
		}
		return new FrameSource(dataSet, found);
	}

	get frames(): number {
		return this.#shape.frames;
	}

	/** Reads a frame, from 0, for a rendering thread. @throws Failure `not-acceptable`, and as the object store does */
	async read(frame: number): Promise<Omit<RenderingTask, 'wish' | 'pixelsMax'>> {
		const isEncapsulated = this.#value.length === undefined;
		const { extents, bitOffset } = await this.#extents(frame);
		const length = extents.reduce((sum, { start, end }) => sum + end - start, 0);
		if (length > this.#bytesMax()) throw new Failure('not-acceptable', 'the pixel data of the frame is longer than its image');
		const { transferSyntaxUid } = this.#dataSet.instance;
		const header = await this.#bytes([{ start: 0, end: this.#value.offset }]);
		const bytes = await (this.#hasTurnedBytes ? this.#inWords(extents) : this.#bytes(extents));
		return { header, transferSyntaxUid, frame, bytes, isEncapsulated, bitOffset, isFloat: this.#isFloat };
	}

	/** Samples of a byte that are written as words lie the other way round in big endian (PS3.5 §7.3). */
	get #hasTurnedBytes(): boolean {
		const { littleEndian } = encodingOf(this.#dataSet.instance.transferSyntaxUid);
		return !littleEndian && this.#value.vr === 'OW' && (this.#shape.bitsAllocated ?? 16) <= 8;
	}

	/** Reads whole words and turns each round. A frame may begin and end within one. */
	async #inWords(extents: readonly Extent[]): Promise<Uint8Array> {
		const [{ start, end } = { start: 0, end: 0 }] = extents;
		const from = start - ((start - this.#value.offset) % 2);
		const bytes = Buffer.from(await this.#bytes([{ start: from, end: end + ((end - from) % 2) }]));
		return Uint8Array.from(
			bytes
				.subarray(0, bytes.length & ~1)
				.swap16()
				.subarray(start - from, end - from),
		);
	}

	#bytesMax(): number {
		const { rows = 0, columns = 0, samplesPerPixel = 1, bitsAllocated = 0 } = this.#shape;
		return 2 * Math.ceil((rows * columns * samplesPerPixel * bitsAllocated) / 8) + surroundingBytes;
	}

	async #extents(frame: number): Promise<{ extents: Extent[]; bitOffset: number }> {
		const { rows = 0, columns = 0, samplesPerPixel = 1, bitsAllocated, frames } = this.#shape;
		const { offset, length } = this.#value;
		if (length !== undefined && bitsAllocated === 1) {
			// Frames of single bits follow each other without regard to bytes (PS3.5 §8.1.1).
			const bits = rows * columns * samplesPerPixel;
			const first = frame * bits;
			if (frames * bits > length * 8) throw new Failure('not-acceptable', 'the pixel data is shorter than its frames');
			return { extents: [{ start: offset + Math.floor(first / 8), end: offset + Math.ceil((first + bits) / 8) }], bitOffset: first % 8 };
		}
		this.#table ??= frameTable(this.#dataSet, this.#value, this.#shape).catch((error: unknown) => {
			this.#table = undefined;
			throw error;
		});
		const table = await this.#table;
		return { extents: await table.extentsOf(frame), bitOffset: 0 };
	}

	async #bytes(extents: readonly Extent[]): Promise<Uint8Array> {
		const pieces: Uint8Array[] = [];
		for (const { start, end } of extents) for await (const piece of this.#dataSet.read(start, end)) pieces.push(piece);
		return Buffer.concat(pieces);
	}
}
