import { NoPicture } from './picture.ts';
import type { PixelShape } from './shape.ts';

export type StoredValues = Uint8Array | Uint16Array | Uint32Array | Int8Array | Int16Array | Int32Array | Float32Array | Float64Array;

/** The samples of one frame, one after the other as they are stored. */
export interface Frame {
	bytes: Uint8Array;
	littleEndian: boolean;
	/** Bits of the first byte that belong to the frame before; only with one bit a sample. */
	bitOffset: number;
	/** (7FE0,0008) or (7FE0,0009). */
	isFloat: boolean;
}

/**
 * Returns the stored values of a frame (PS3.5 §8.1.1): without the bits around them, and with their sign.
 * @throws NoPicture when the frame is shorter than its image
 */
export function storedValues(frame: Frame, shape: PixelShape, count: number): StoredValues {
	const { bitsAllocated } = shape;
	const needed = bitsAllocated === 1 ? Math.ceil((frame.bitOffset + count) / 8) : (count * bitsAllocated) / 8;
	if (frame.bytes.length < needed) throw new NoPicture('the pixel data is shorter than Rows, Columns and Bits Allocated say');
	if (frame.isFloat) return floats(frame, bitsAllocated, count);
	if (bitsAllocated === 1) return bits(frame, count);
	if (bitsAllocated === 8) return fitted(frame.bytes.subarray(0, count), shape, Uint8Array, Int8Array);
	if (bitsAllocated === 16) return fitted(words(frame, count), shape, Uint16Array, Int16Array);
	if (bitsAllocated === 32) return fitted(longs(frame, count), shape, Uint32Array, Int32Array);
	throw new NoPicture(`integers of ${bitsAllocated} bits are not shown`);
}

function viewOf({ bytes }: Frame): DataView {
	return new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}

function bits({ bytes, bitOffset }: Frame, count: number): Uint8Array {
	const values = new Uint8Array(count);
	// The first pixel is the least significant bit (PS3.5 §8.1.1).
	for (let index = 0; index < count; index++) {
		const at = bitOffset + index;
		values[index] = ((bytes[at >> 3] ?? 0) >> (at & 7)) & 1;
	}
	return values;
}

function words(frame: Frame, count: number): Uint16Array {
	const values = new Uint16Array(count);
	const view = viewOf(frame);
	for (let index = 0; index < count; index++) values[index] = view.getUint16(index * 2, frame.littleEndian);
	return values;
}

function longs(frame: Frame, count: number): Uint32Array {
	const values = new Uint32Array(count);
	const view = viewOf(frame);
	for (let index = 0; index < count; index++) values[index] = view.getUint32(index * 4, frame.littleEndian);
	return values;
}

function floats(frame: Frame, bitsAllocated: number, count: number): Float32Array | Float64Array {
	const view = viewOf(frame);
	const values = bitsAllocated === 64 ? new Float64Array(count) : new Float32Array(count);
	for (let index = 0; index < count; index++) {
		values[index] = bitsAllocated === 64 ? view.getFloat64(index * 8, frame.littleEndian) : view.getFloat32(index * 4, frame.littleEndian);
	}
	return values;
}

/** Shifts the stored bits to the sign bit and back, which drops what lies above and below them. */
function fitted<U extends StoredValues, S extends StoredValues>(
	raw: U,
	{ bitsAllocated, bitsStored, highBit, isSigned }: PixelShape,
	Unsigned: new (length: number) => U,
	Signed: new (length: number) => S,
): U | S {
	if (!isSigned && bitsStored === bitsAllocated) return raw;
	const up = 31 - highBit;
	const down = 32 - bitsStored;
	const values: U | S = isSigned ? new Signed(raw.length) : new Unsigned(raw.length);
	for (let index = 0; index < raw.length; index++) {
		const high = (raw[index] ?? 0) << up;
		values[index] = isSigned ? high >> down : high >>> down;
	}
	return values;
}
