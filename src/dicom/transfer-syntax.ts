/** How the elements of a data set are written (PS3.5 §7.1, §A). */
export interface Encoding {
	explicit: boolean;
	littleEndian: boolean;
	deflated: boolean;
}

export const implicitLittleEndian = '1.2.840.10008.1.2';
export const explicitLittleEndian = '1.2.840.10008.1.2.1';

export const explicitBigEndian = '1.2.840.10008.1.2.2';
export const deflatedExplicitLittleEndian = '1.2.840.10008.1.2.1.99';

const explicit: Encoding = { explicit: true, littleEndian: true, deflated: false };
const deflated: Encoding = { ...explicit, deflated: true };
const special: ReadonlyMap<string, Encoding> = new Map([
	[implicitLittleEndian, { explicit: false, littleEndian: true, deflated: false }],
	[explicitBigEndian, { explicit: true, littleEndian: false, deflated: false }],
	[deflatedExplicitLittleEndian, deflated],
	// JPIP Referenced Deflate and JPIP HTJ2K Referenced Deflate.
	['1.2.840.10008.1.2.4.95', deflated],
	['1.2.840.10008.1.2.4.205', deflated],
	// GE's private implicit VR with pixel data in big endian.
	['1.2.840.113619.5.2', { explicit: false, littleEndian: true, deflated: false }],
]);

/** Every syntax not named otherwise, the private ones included, is explicit VR little endian (PS3.5 §A.4). */
export function encodingOf(transferSyntaxUid: string): Encoding {
	return special.get(transferSyntaxUid) ?? explicit;
}

/**
 * The transfer syntaxes of uncompressed objects, which are converted into each other; the one that keeps most and is known best comes
 * first. Explicit VR keeps the VRs of private elements.
 */
export const convertible: readonly string[] = [explicitLittleEndian, implicitLittleEndian, deflatedExplicitLittleEndian, explicitBigEndian];

export function isConvertible(transferSyntaxUid: string): boolean {
	return convertible.includes(transferSyntaxUid);
}

/** Returns which of the accepted transfer syntaxes a stored object is sent in: as it is stored if that is one of them; undefined: in none. */
export function sentAs(stored: string, accepted: readonly string[]): string | undefined {
	if (accepted.includes(stored)) return stored;
	return isConvertible(stored) ? convertible.find((uid) => accepted.includes(uid)) : undefined;
}

/** The transfer syntaxes of PS3.6 Table A-1, retired ones that are still met included. */
export const transferSyntaxes: ReadonlyMap<string, string> = new Map([
	[implicitLittleEndian, 'Implicit VR Little Endian'],
	[explicitLittleEndian, 'Explicit VR Little Endian'],
	['1.2.840.10008.1.2.1.98', 'Encapsulated Uncompressed Explicit VR Little Endian'],
	[deflatedExplicitLittleEndian, 'Deflated Explicit VR Little Endian'],
	[explicitBigEndian, 'Explicit VR Big Endian'],
	['1.2.840.10008.1.2.4.50', 'JPEG Baseline (Process 1)'],
	['1.2.840.10008.1.2.4.51', 'JPEG Extended (Process 2 & 4)'],
	['1.2.840.10008.1.2.4.53', 'JPEG Spectral Selection, Non-Hierarchical (Process 6 & 8)'],
	['1.2.840.10008.1.2.4.55', 'JPEG Full Progression, Non-Hierarchical (Process 10 & 12)'],
	['1.2.840.10008.1.2.4.57', 'JPEG Lossless, Non-Hierarchical (Process 14)'],
	['1.2.840.10008.1.2.4.70', 'JPEG Lossless, Non-Hierarchical, First-Order Prediction (Process 14, Selection Value 1)'],
	['1.2.840.10008.1.2.4.80', 'JPEG-LS Lossless'],
	['1.2.840.10008.1.2.4.81', 'JPEG-LS Lossy (Near-Lossless)'],
	['1.2.840.10008.1.2.4.90', 'JPEG 2000 (Lossless Only)'],
	['1.2.840.10008.1.2.4.91', 'JPEG 2000'],
	['1.2.840.10008.1.2.4.92', 'JPEG 2000 Part 2 Multi-component (Lossless Only)'],
	['1.2.840.10008.1.2.4.93', 'JPEG 2000 Part 2 Multi-component'],
	['1.2.840.10008.1.2.4.94', 'JPIP Referenced'],
	['1.2.840.10008.1.2.4.95', 'JPIP Referenced Deflate'],
	['1.2.840.10008.1.2.4.100', 'MPEG2 Main Profile / Main Level'],
	['1.2.840.10008.1.2.4.100.1', 'Fragmentable MPEG2 Main Profile / Main Level'],
	['1.2.840.10008.1.2.4.101', 'MPEG2 Main Profile / High Level'],
	['1.2.840.10008.1.2.4.101.1', 'Fragmentable MPEG2 Main Profile / High Level'],
	['1.2.840.10008.1.2.4.102', 'MPEG-4 AVC/H.264 High Profile / Level 4.1'],
	['1.2.840.10008.1.2.4.102.1', 'Fragmentable MPEG-4 AVC/H.264 High Profile / Level 4.1'],
	['1.2.840.10008.1.2.4.103', 'MPEG-4 AVC/H.264 BD-compatible High Profile / Level 4.1'],
	['1.2.840.10008.1.2.4.103.1', 'Fragmentable MPEG-4 AVC/H.264 BD-compatible High Profile / Level 4.1'],
	['1.2.840.10008.1.2.4.104', 'MPEG-4 AVC/H.264 High Profile / Level 4.2 For 2D Video'],
	['1.2.840.10008.1.2.4.104.1', 'Fragmentable MPEG-4 AVC/H.264 High Profile / Level 4.2 For 2D Video'],
	['1.2.840.10008.1.2.4.105', 'MPEG-4 AVC/H.264 High Profile / Level 4.2 For 3D Video'],
	['1.2.840.10008.1.2.4.105.1', 'Fragmentable MPEG-4 AVC/H.264 High Profile / Level 4.2 For 3D Video'],
	['1.2.840.10008.1.2.4.106', 'MPEG-4 AVC/H.264 Stereo High Profile / Level 4.2'],
	['1.2.840.10008.1.2.4.106.1', 'Fragmentable MPEG-4 AVC/H.264 Stereo High Profile / Level 4.2'],
	['1.2.840.10008.1.2.4.107', 'HEVC/H.265 Main Profile / Level 5.1'],
	['1.2.840.10008.1.2.4.108', 'HEVC/H.265 Main 10 Profile / Level 5.1'],
	['1.2.840.10008.1.2.4.110', 'JPEG XL Lossless'],
	['1.2.840.10008.1.2.4.111', 'JPEG XL JPEG Recompression'],
	['1.2.840.10008.1.2.4.112', 'JPEG XL'],
	['1.2.840.10008.1.2.4.201', 'High-Throughput JPEG 2000 (Lossless Only)'],
	['1.2.840.10008.1.2.4.202', 'High-Throughput JPEG 2000 with RPCL Options (Lossless Only)'],
	['1.2.840.10008.1.2.4.203', 'High-Throughput JPEG 2000'],
	['1.2.840.10008.1.2.4.204', 'JPIP HTJ2K Referenced'],
	['1.2.840.10008.1.2.4.205', 'JPIP HTJ2K Referenced Deflate'],
	['1.2.840.10008.1.2.5', 'RLE Lossless'],
	['1.2.840.10008.1.2.7.1', 'SMPTE ST 2110-20 Uncompressed Progressive Active Video'],
	['1.2.840.10008.1.2.7.2', 'SMPTE ST 2110-20 Uncompressed Interlaced Active Video'],
	['1.2.840.10008.1.2.7.3', 'SMPTE ST 2110-30 PCM Digital Audio'],
	['1.2.840.10008.1.2.8.1', 'Deflated Image Frame Compression'],
]);

const transferSyntaxRoot = '1.2.840.10008.1.2';
/** Transfer syntaxes by the part of their UID behind the root of the standard. */
const bulkMediaTypes: readonly (readonly [pattern: RegExp, mediaType: string])[] = [
	[/^\.4\.(?:50|51|53|55|57|70)$/, 'image/jpeg'],
	[/^\.4\.8[01]$/, 'image/jls'],
	[/^\.4\.9[01]$/, 'image/jp2'],
	[/^\.4\.9[23]$/, 'image/jpx'],
	[/^\.4\.20[1-3]$/, 'image/jphc'],
	[/^\.4\.11[0-2]$/, 'image/jxl'],
	[/^\.4\.10[01](?:\.1)?$/, 'video/mpeg'],
	[/^\.4\.10[2-6](?:\.1)?$/, 'video/mp4'],
	[/^\.4\.10[78]$/, 'video/H265'],
	[/^\.5$/, 'image/dicom-rle'],
];

/** The media type of compressed pixel data (PS3.18 §8.7.3.5); undefined: application/octet-stream alone. */
export function bulkMediaTypeOf(transferSyntaxUid: string): string | undefined {
	if (!transferSyntaxUid.startsWith(transferSyntaxRoot)) return undefined;
	const rest = transferSyntaxUid.slice(transferSyntaxRoot.length);
	return bulkMediaTypes.find(([pattern]) => pattern.test(rest))?.[1];
}
