/** A picture as it is shown: 8 bits a sample, rows from the top, grey or red-green-blue. */
export interface Picture {
	width: number;
	height: number;
	samples: 1 | 3;
	bytes: Uint8Array;
}

/** The functions by which a window turns values into grey (PS3.3 §C.11.2.1.2, §C.11.2.1.3). */
export const windowFunctions = ['linear', 'linear-exact', 'sigmoid'] as const;
export type WindowFunction = (typeof windowFunctions)[number];

export interface Window {
	center: number;
	width: number;
	shape: WindowFunction;
}

/** The box into which a picture is fitted, and the part of the image that it shows (PS3.18 §8.3.5.1.3). */
export interface Viewport {
	width: number;
	height: number;
	/** A part of the image, from the left and from the top; a negative size flips. Undefined: the whole image. */
	region: { x: number; y: number; width: number | undefined; height: number | undefined } | undefined;
}

export const pictureTypes = ['image/jpeg', 'image/png'] as const;
export type PictureType = (typeof pictureTypes)[number];

/** A picture as somebody wants it. */
export interface PictureWish {
	mediaType: PictureType;
	/** The quality of image/jpeg, from 1 to 100. */
	quality: number;
	window: Window | undefined;
	viewport: Viewport | undefined;
}

/** The image cannot be shown. The text names elements and rules, and no value of the patient. */
export class NoPicture extends Error {
	override readonly name = 'NoPicture';
}
