import { Failure } from '#core/failure.ts';
import type { ImageShape, LocatedValue } from '#dicom/value-locator.ts';
import { type Extent, Fragments } from './fragments.ts';
import type { StoredDataSet } from './stored-data-set.ts';

/** Locates the frames of an image: each frame is one or more extents of the data set. */
export interface FrameTable {
	frames: number;
	/** `index` from 0, below `frames`. @throws Failure `not-acceptable` */
	extentsOf(index: number): Extent[] | Promise<Extent[]>;
}

/** @throws Failure `not-acceptable` when the data set does not tell its frames apart */
export async function frameTable(dataSet: StoredDataSet, value: LocatedValue, shape: ImageShape): Promise<FrameTable> {
	return value.length === undefined ? encapsulated(dataSet, value.offset, shape.frames) : native(value.offset, value.length, shape);
}

function native(offset: number, length: number, shape: ImageShape): FrameTable {
	const { frames } = shape;
	const frameBytes = frameBytesOf(shape, length);
	return {
		frames,
		extentsOf: (index) => {
			if ((index + 1) * frameBytes > length) throw cutOff();
			return [{ start: offset + index * frameBytes, end: offset + (index + 1) * frameBytes }];
		},
	};
}

/** Subsampled frames keep so much of three samples a pixel, at the least (PS3.3 §C.7.6.3.1.2). */
const keptOf: ReadonlyMap<string | undefined, number> = new Map([
	['YBR_FULL_422', 2 / 3],
	['YBR_PARTIAL_422', 2 / 3],
	['YBR_PARTIAL_420', 1 / 2],
]);

/**
 * Computes the bytes of a frame from rows, columns, samples and bits. Subsampled frames are shorter: if the data is, it is divided into equal
 * shares.
 */
function frameBytesOf({ rows, columns, samplesPerPixel = 1, bitsAllocated, photometric, frames }: ImageShape, length: number): number {
	const bits = (rows ?? 0) * (columns ?? 0) * samplesPerPixel * (bitsAllocated ?? 0);
	if (bits === 0 || (frames > 1 && bits % 8 !== 0)) throw indistinct();
	const bytes = Math.ceil(bits / 8);
	const kept = keptOf.get(photometric);
	if (kept === undefined || bytes * frames <= length) return bytes;
	if (length % frames === 0 && length / frames >= bytes * kept) return length / frames;
	return Math.ceil(bytes * kept);
}

async function encapsulated(dataSet: StoredDataSet, offset: number, frames: number): Promise<FrameTable> {
	// Each window would have to inflate the data set from its beginning.
	if (dataSet.isDeflated) throw indistinct();
	const fragments = await Fragments.open(dataSet, offset);
	const { offsets } = fragments;
	if (frames === 1) return { frames, extentsOf: () => fragments.extents() };
	if (offsets.length !== frames || !isAscending(offsets)) return untabled(fragments, frames);
	let instead: Promise<FrameTable> | undefined;
	return {
		frames,
		// Where all fragments of a large image begin takes long to find out, so each entry is checked when its frame is read.
		extentsOf: async (index) => {
			const extents = instead ? undefined : await fragments.between(offsets[index], offsets[index + 1]);
			if (extents) return extents;
			instead ??= untabled(fragments, frames);
			return (await instead).extentsOf(index);
		},
	};
}

/** A basic offset table begins with the first frame and has them in order (PS3.5 §A.4). */
function isAscending(offsets: readonly number[]): boolean {
	return offsets[0] === 0 && offsets.every((offset, index) => index === 0 || offset > (offsets[index - 1] ?? 0));
}

/** Locates frames without a table, or with one that is wrong. */
async function untabled(fragments: Fragments, frames: number): Promise<FrameTable> {
	const extents = await fragments.extents();
	if (extents.length === frames) return { frames, extentsOf: (index) => extents.slice(index, index + 1) };
	// A frame may still have several fragments (PS3.5 §A.4): then the streams themselves tell where each begins.
	const streams = await fragments.streams(extents);
	if (streams.length !== frames) throw indistinct();
	return { frames, extentsOf: (index) => streams[index] ?? [] };
}

function cutOff(): Failure {
	return new Failure(
		'not-acceptable',
		'the pixel data is shorter than Rows, Columns and Bits Allocated say, and the frame is not whole; the instance can be retrieved as it is',
	);
}

function indistinct(): Failure {
	return new Failure('not-acceptable', 'the frames of the instance cannot be told apart; it can be retrieved whole');
}
