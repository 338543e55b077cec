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
		extentsOf: (index) => [{ start: offset + index * frameBytes, end: offset + (index + 1) * frameBytes }],
	};
}

/**
 * Computes the bytes of a frame from rows, columns, samples and bits. If the data is shorter (4:2:2 in PS3.3 §C.7.6.3.1.2), it is divided
 * into equal shares.
 */
function frameBytesOf({ rows, columns, samplesPerPixel = 1, bitsAllocated, frames }: ImageShape, length: number): number {
	const bits = (rows ?? 0) * (columns ?? 0) * samplesPerPixel * (bitsAllocated ?? 0);
	if (bits > 0 && bits % 8 === 0 && (bits / 8) * frames <= length) return bits / 8;
	if (frames === 1 && bits / 8 <= length && bits > 0) return Math.ceil(bits / 8);
	if (bits > 0 && bits % 8 === 0 && length % frames === 0) return length / frames;
	throw indistinct();
}

async function encapsulated(dataSet: StoredDataSet, offset: number, frames: number): Promise<FrameTable> {
	// Each window would have to inflate the data set from its beginning.
	if (dataSet.isDeflated) throw indistinct();
	const fragments = await Fragments.open(dataSet, offset);
	const { offsets } = fragments;
	if (frames === 1) return { frames, extentsOf: () => fragments.extents() };
	if (offsets.length === frames) return { frames, extentsOf: (index) => fragments.extents(offsets[index], offsets[index + 1]) };
	const extents = await fragments.extents();
	if (extents.length === frames) return { frames, extentsOf: (index) => extents.slice(index, index + 1) };
	// Without a table a frame may still have several fragments (PS3.5 §A.4): then the streams themselves tell where each begins.
	const streams = await fragments.streams(extents);
	if (streams.length !== frames) throw indistinct();
	return { frames, extentsOf: (index) => streams[index] ?? [] };
}

function indistinct(): Failure {
	return new Failure('not-acceptable', 'the frames of the instance cannot be told apart; it can be retrieved whole');
}
