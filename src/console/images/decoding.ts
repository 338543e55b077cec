import type { PixelShape } from './pixels.ts';

/** The page asks the worker to decode a frame. */
export interface DecodeRequest {
	id: number;
	bytes: ArrayBuffer;
	transferSyntaxUid: string;
	shape: PixelShape;
}

/** Bytes of a frame as if it had not been compressed, in the order of this machine. */
export type DecodeAnswer =
	| { id: number; bytes: ArrayBuffer; shape: PixelShape }
	/** The text is for people. */
	| { id: number; trouble: string };

/** Transfer syntaxes whose frames are compressed and can be decoded. */
export const codecs: Readonly<Record<string, 'rle' | 'jpeg' | 'jpeg-lossless' | 'jpeg-ls' | 'jpeg-2000' | 'ht-jpeg-2000'>> = {
	'1.2.840.10008.1.2.5': 'rle',
	'1.2.840.10008.1.2.4.50': 'jpeg',
	'1.2.840.10008.1.2.4.51': 'jpeg',
	'1.2.840.10008.1.2.4.57': 'jpeg-lossless',
	'1.2.840.10008.1.2.4.70': 'jpeg-lossless',
	'1.2.840.10008.1.2.4.80': 'jpeg-ls',
	'1.2.840.10008.1.2.4.81': 'jpeg-ls',
	'1.2.840.10008.1.2.4.90': 'jpeg-2000',
	'1.2.840.10008.1.2.4.91': 'jpeg-2000',
	'1.2.840.10008.1.2.4.201': 'ht-jpeg-2000',
	'1.2.840.10008.1.2.4.202': 'ht-jpeg-2000',
	'1.2.840.10008.1.2.4.203': 'ht-jpeg-2000',
};

/** The frames are samples already. */
export const uncompressed: ReadonlySet<string> = new Set([
	'1.2.840.10008.1.2',
	'1.2.840.10008.1.2.1',
	'1.2.840.10008.1.2.1.98',
	'1.2.840.10008.1.2.1.99',
	'1.2.840.10008.1.2.2',
	'1.2.840.113619.5.2',
]);
