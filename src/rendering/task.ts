import type { PictureWish } from './picture.ts';

/** A frame as it is stored, with what the elements before it say. It crosses to a rendering thread. */
export interface RenderingTask {
	/** The data set up to its pixel data; inflated if it was deflated. */
	header: Uint8Array;
	transferSyntaxUid: string;
	/** The first one is 0. */
	frame: number;
	bytes: Uint8Array;
	isEncapsulated: boolean;
	/** Bits of the first byte that belong to the frame before; only with one bit a sample. */
	bitOffset: number;
	isFloat: boolean;
	wish: PictureWish;
	/** RENDERED_PIXELS_MAX */
	pixelsMax: number;
}

export type RenderingResult = { kind: 'rendered'; bytes: Uint8Array } | { kind: 'refused'; reason: string };
