import { deflateRawSync } from 'node:zlib';
import { explicitLittleEndian } from '#dicom/transfer-syntax.ts';
import { jpegOf } from '#rendering/jpeg.ts';
import { ctStorage, element, encapsulated } from './data-set.ts';
import { encodedImage } from './encoded-image.ts';
import { losslessJpeg } from './lossless-jpeg.ts';
import type { SentInstance } from './storage-scu.ts';

/** Images of invented people whose pixels mean something: what a viewer shows of them can be told. */

export const rleLossless = '1.2.840.10008.1.2.5';
export const jpegBaseline = '1.2.840.10008.1.2.4.50';
export const jpegLossless = '1.2.840.10008.1.2.4.70';
export const jpegLsLossless = '1.2.840.10008.1.2.4.80';
export const jpeg2000Lossless = '1.2.840.10008.1.2.4.90';
export const htj2kLossless = '1.2.840.10008.1.2.4.201';
/** The console has no decoder for it, the service has. */
export const deflatedFrames = '1.2.840.10008.1.2.8.1';
export const secondaryCapture = '1.2.840.10008.5.1.4.1.1.7';
export const ultrasoundMultiFrame = '1.2.840.10008.5.1.4.1.1.3.1';

export interface GivenPixels {
	studyUid: string;
	seriesUid: string;
	sopInstanceUid: string;
	number?: number;
	studyDate?: string;
	studyDescription?: string;
	seriesDescription?: string;
}

function imageOf(
	given: GivenPixels,
	stated: { sopClassUid: string; modality: string; transferSyntaxUid: string },
	...elements: Buffer[]
): SentInstance {
	const { sopClassUid, modality, transferSyntaxUid } = stated;
	const dataSet = Buffer.concat([
		element(0x0008_0005, 'CS', 'ISO_IR 100'),
		element(0x0008_0016, 'UI', sopClassUid),
		element(0x0008_0018, 'UI', given.sopInstanceUid),
		element(0x0008_0020, 'DA', given.studyDate ?? '20260105'),
		element(0x0008_0060, 'CS', modality),
		element(0x0008_1030, 'LO', given.studyDescription ?? 'Head'),
		element(0x0008_103e, 'LO', given.seriesDescription ?? 'axial'),
		element(0x0009_0010, 'LO', 'EXAMPLE 1.0'),
		element(0x0009_1001, 'LO', 'a private value'),
		element(0x0010_0010, 'PN', 'Sample^Ida'),
		element(0x0010_0020, 'LO', '70499'),
		element(0x0020_000d, 'UI', given.studyUid),
		element(0x0020_000e, 'UI', given.seriesUid),
		element(0x0020_0011, 'IS', '1'),
		element(0x0020_0013, 'IS', String(given.number ?? 1)),
		...elements,
	]);
	return { sopClassUid, sopInstanceUid: given.sopInstanceUid, transferSyntaxUid, dataSet };
}

/** Rows and columns of a slice. */
const side = 64;
const sliceInfo = { width: side, height: side, bitsPerSample: 16, componentCount: 1, isSigned: true };

/** Values of a slice in HU: air outside, in the middle a square of the given value. */
function slice(middle: number): Buffer {
	const pixels = Buffer.alloc(2 * side * side);
	const isMiddle = (at: number) => at >= side / 4 && at < (3 * side) / 4;
	for (let row = 0; row < side; row++)
		for (let column = 0; column < side; column++) {
			const value = isMiddle(row) && isMiddle(column) ? middle : -1000;
			pixels.writeInt16LE(value + 1024, 2 * (row * side + column));
		}
	return pixels;
}

function ctOf(given: GivenPixels, transferSyntaxUid: string, pixelData: Buffer): SentInstance {
	return imageOf(
		given,
		{ sopClassUid: ctStorage, modality: 'CT', transferSyntaxUid },
		element(0x0020_0032, 'DS', `0\\0\\${5 * (given.number ?? 1)}`),
		element(0x0020_0037, 'DS', '1\\0\\0\\0\\1\\0'),
		element(0x0028_0002, 'US', 1),
		element(0x0028_0004, 'CS', 'MONOCHROME2'),
		element(0x0028_0010, 'US', side),
		element(0x0028_0011, 'US', side),
		element(0x0028_0030, 'DS', '0.5\\0.5'),
		element(0x0028_0100, 'US', 16),
		element(0x0028_0101, 'US', 16),
		element(0x0028_0102, 'US', 15),
		element(0x0028_0103, 'US', 1),
		element(0x0028_1050, 'DS', '40'),
		element(0x0028_1051, 'DS', '400'),
		element(0x0028_1052, 'DS', '-1024'),
		element(0x0028_1053, 'DS', '1'),
		element(0x0028_1054, 'LO', 'HU'),
		pixelData,
	);
}

/** A slice of a CT whose middle has the given HU. */
export function ctSlice(given: GivenPixels, middle: number): SentInstance {
	return ctOf(given, explicitLittleEndian, element(0x7fe0_0010, 'OW', slice(middle)));
}

/** RLE Lossless in literal runs: the more significant bytes, then the others. */
function rleOf(pixels: Buffer): Buffer {
	const segment = (place: number) => {
		const bytes = pixels.filter((_, at) => at % 2 === place);
		const runs: Uint8Array[] = [];
		for (let at = 0; at < bytes.length; at += 128) {
			const run = bytes.subarray(at, at + 128);
			runs.push(Uint8Array.of(run.length - 1), run);
		}
		const whole = Buffer.concat(runs);
		return whole.length % 2 === 0 ? whole : Buffer.concat([whole, Uint8Array.of(128)]);
	};
	const [high, low] = [segment(1), segment(0)];
	const header = Buffer.alloc(64);
	header.writeUInt32LE(2, 0);
	header.writeUInt32LE(64, 4);
	header.writeUInt32LE(64 + high.length, 8);
	return Buffer.concat([header, high, low]);
}

export function rleSlice(given: GivenPixels, middle: number): SentInstance {
	return ctOf(given, rleLossless, encapsulated([], [rleOf(slice(middle))]));
}

/** The same slice as lossless JPEG 2000. */
export async function jpeg2000Slice(given: GivenPixels, middle: number): Promise<SentInstance> {
	return compressedSlice(given, jpeg2000Lossless, middle);
}

/** Encoders without loss, by transfer syntax. */
const encoders: Readonly<Record<string, (pixels: Buffer) => Uint8Array | Promise<Uint8Array>>> = {
	[jpegLossless]: (pixels) => losslessJpeg(side, side, new Uint16Array(Uint8Array.from(pixels).buffer)),
	[jpegLsLossless]: (pixels) => encodedImage('codec-charls', 'JpegLSEncoder', { ...sliceInfo, isSigned: false }, pixels),
	[jpeg2000Lossless]: (pixels) => encodedImage('codec-openjpeg', 'J2KEncoder', sliceInfo, pixels),
	[htj2kLossless]: (pixels) => encodedImage('codec-openjph', 'HTJ2KEncoder', { ...sliceInfo, isUsingColorTransform: false }, pixels),
	[deflatedFrames]: (pixels) => deflateRawSync(pixels),
};

/** The slice, compressed as the transfer syntax says. */
export async function compressedSlice(given: GivenPixels, transferSyntaxUid: string, middle: number): Promise<SentInstance> {
	const encode = encoders[transferSyntaxUid];
	if (encode === undefined) throw new Error(`there is no encoder of ${transferSyntaxUid}`);
	return ctOf(given, transferSyntaxUid, encapsulated([], [even(await encode(slice(middle)))]));
}

function even(stream: Uint8Array): Buffer {
	return Buffer.concat([stream, Buffer.alloc(stream.length % 2)]);
}

/** A picture of one grey as JPEG of 8 bits. */
export function baselineJpeg(given: GivenPixels, grey: number): SentInstance {
	const [rows, columns] = [32, 48];
	const stream = jpegOf({ width: columns, height: rows, samples: 1, bytes: new Uint8Array(rows * columns).fill(grey) }, 100);
	return imageOf(
		given,
		{ sopClassUid: secondaryCapture, modality: 'OT', transferSyntaxUid: jpegBaseline },
		element(0x0028_0002, 'US', 1),
		element(0x0028_0004, 'CS', 'MONOCHROME2'),
		...eightBits(rows, columns, encapsulated([], [even(stream)])),
	);
}

/** The elements behind the frames, of pixels with 8 bits a sample. */
function eightBits(rows: number, columns: number, pixelData: Buffer): Buffer[] {
	return [
		element(0x0028_0010, 'US', rows),
		element(0x0028_0011, 'US', columns),
		element(0x0028_0100, 'US', 8),
		element(0x0028_0101, 'US', 8),
		element(0x0028_0102, 'US', 7),
		element(0x0028_0103, 'US', 0),
		pixelData,
	];
}

/** A colour picture of one colour. */
export function colourPicture(given: GivenPixels, colour: readonly [number, number, number]): SentInstance {
	const [rows, columns] = [32, 48];
	return imageOf(
		given,
		{ sopClassUid: secondaryCapture, modality: 'OT', transferSyntaxUid: explicitLittleEndian },
		element(0x0028_0002, 'US', 3),
		element(0x0028_0004, 'CS', 'RGB'),
		element(0x0028_0006, 'US', 0),
		...eightBits(rows, columns, element(0x7fe0_0010, 'OB', Buffer.from(Array.from({ length: rows * columns }, () => colour).flat()))),
	);
}

/** An ultrasound film whose frames get brighter. */
export function film(given: GivenPixels, frames: number): SentInstance {
	const [rows, columns] = [32, 32];
	const brightness = (frame: number) => Math.round((255 * frame) / (frames - 1));
	return imageOf(
		given,
		{ sopClassUid: ultrasoundMultiFrame, modality: 'US', transferSyntaxUid: explicitLittleEndian },
		element(0x0018_1063, 'DS', '50'),
		element(0x0028_0002, 'US', 1),
		element(0x0028_0004, 'CS', 'MONOCHROME2'),
		element(0x0028_0008, 'IS', String(frames)),
		...eightBits(
			rows,
			columns,
			element(
				0x7fe0_0010,
				'OB',
				Buffer.concat(Array.from({ length: frames }, (_, frame) => Buffer.alloc(rows * columns, brightness(frame)))),
			),
		),
	);
}
