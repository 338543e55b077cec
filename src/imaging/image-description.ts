import { type DicomJson, type DicomJsonElement, JsonModelReader, pixelTags } from '#dicom/json-model.ts';
import { eightBitEntries, entriesOfTable, entryCount, expandedPalette } from '#dicom/palette.ts';
import { tagKey } from '#dicom/tag-key.ts';
import { encodingOf } from '#dicom/transfer-syntax.ts';

/** A viewer turns the stored values of a frame into shown ones by these. */
export interface FrameValues {
	windows: { center: number; width: number; name: string }[];
	slope: number;
	intercept: number;
	/** Such as HU; empty where the image does not say it. */
	unit: string;
	/** Image Position (Patient) and Image Orientation (Patient); null where the image does not state it. */
	position: number[] | null;
	orientation: number[] | null;
	/** Millimetres between rows and between columns. */
	spacing: number[] | null;
}

/** A viewer needs these to show the pixels of an image. */
export interface ImageDescription {
	sop_class_uid: string;
	transfer_syntax_uid: string;
	modality: string;
	rows: number;
	columns: number;
	samples: number;
	bits_allocated: number;
	bits_stored: number;
	signed: boolean;
	/** Colours stand plane by plane. */
	planar: boolean;
	photometric: string;
	big_endian: boolean;
	frames: number;
	/** The time from frame to frame; null where the image does not state it. */
	frame_ms: number | null;
	instance_number: number | null;
	/** The stored value that the first entry of each colour's table is for, and the tables, a byte an entry, as base64. */
	palette: { first: number; red: string; green: string; blue: string } | null;
	/** The image has a table in place of slope and intercept (Modality LUT), or in place of a window (VOI LUT). */
	tables: boolean;
	/** One for each frame where they differ, else one for all. */
	values: FrameValues[];
}

/** Palettes of 65,536 entries of two bytes. */
const inlineBytesMax = 131_072;

/** Reads while the bytes arrive what is needed to show an image. */
export class ImageReader {
	readonly #reader: JsonModelReader;
	readonly #transferSyntaxUid: string;

	constructor(transferSyntaxUid: string, bytesMax: number) {
		this.#transferSyntaxUid = transferSyntaxUid;
		this.#reader = new JsonModelReader(transferSyntaxUid, { bytesMax, inlineBytesMax, bulkDataUri: () => undefined });
	}

	/** True: wants more. The chunk is not kept. */
	feed(chunk: Uint8Array): boolean {
		return this.#reader.feed(chunk);
	}

	/** Undefined where the data set is no image. Called once, when there is no more to feed. */
	end(): ImageDescription | undefined {
		this.#reader.end();
		const { json } = this.#reader;
		const rows = numberOf(json, '00280010');
		const columns = numberOf(json, '00280011');
		// An image that does not state it is told by the length of its frames.
		const allocated = numberOf(json, '00280100') ?? 16;
		const hasPixels = pixelTags.some((tag) => json[tagKey(tag)] !== undefined);
		if (!hasPixels || rows === undefined || columns === undefined) return undefined;
		return {
			sop_class_uid: textOf(json, '00080016'),
			transfer_syntax_uid: this.#transferSyntaxUid,
			modality: textOf(json, '00080060'),
			...{ rows, columns, samples: numberOf(json, '00280002') ?? 1 },
			...{ bits_allocated: allocated, bits_stored: numberOf(json, '00280101') ?? allocated },
			signed: numberOf(json, '00280103') === 1,
			planar: numberOf(json, '00280006') === 1,
			photometric: textOf(json, '00280004'),
			big_endian: !encodingOf(this.#transferSyntaxUid).littleEndian,
			frames: Math.max(1, numberOf(json, '00280008') ?? 1),
			frame_ms: frameMs(json),
			instance_number: numberOf(json, '00200013') ?? null,
			palette: paletteOf(json),
			tables: json['00283000'] !== undefined || json['00283010'] !== undefined,
			values: valuesOf(json),
		};
	}
}

function numbersIn(json: DicomJson | undefined, tag: string): number[] | undefined {
	const numbers = (json?.[tag]?.Value ?? []).map((value) => (typeof value === 'object' ? Number.NaN : Number(value)));
	return numbers.length > 0 && numbers.every(Number.isFinite) ? numbers : undefined;
}

function numberOf(json: DicomJson | undefined, tag: string): number | undefined {
	return numbersIn(json, tag)?.[0];
}

function textOf(json: DicomJson | undefined, tag: string, index = 0): string {
	const value = json?.[tag]?.Value?.[index];
	return typeof value === 'string' || typeof value === 'number' ? String(value) : '';
}

function itemOf(json: DicomJson | undefined, tag: string, index = 0): DicomJson | undefined {
	const value = json?.[tag]?.Value?.[index];
	return typeof value === 'object' && value !== null ? (value as DicomJson) : undefined;
}

/** Frame Time, or the first step of Frame Time Vector, or what Cine Rate says. */
function frameMs(json: DicomJson): number | null {
	const rate = numberOf(json, '00180040') ?? numberOf(json, '00082144');
	const ms = numberOf(json, '00181063') ?? numbersIn(json, '00181065')?.[1] ?? (rate ? 1000 / rate : undefined);
	return ms !== undefined && ms > 0 ? ms : null;
}

/** The descriptor of each colour's table, its entries, and the segments that some writers have in their place. */
const paletteTags = {
	red: ['00281101', '00281201', '00281221'],
	green: ['00281102', '00281202', '00281222'],
	blue: ['00281103', '00281203', '00281223'],
} as const;

function paletteOf(json: DicomJson): ImageDescription['palette'] {
	const first = numbersIn(json, paletteTags.red[0])?.[1];
	const [red, green, blue] = [paletteTags.red, paletteTags.green, paletteTags.blue].map((tags) => entriesOf(json, tags));
	if (first === undefined || red === undefined || green === undefined || blue === undefined) return null;
	return { first, red, green, blue };
}

/** Returns the entries of a colour's table, a byte each, as base64. */
function entriesOf(json: DicomJson, [descriptorTag, dataTag, segmentsTag]: readonly [string, string, string]): string | undefined {
	const descriptor = numbersIn(json, descriptorTag);
	const [stated, , bits = 16] = descriptor ?? [];
	if (descriptor === undefined || stated === undefined) return undefined;
	const count = entryCount(stated);
	const data = bytesOf(json[dataTag]);
	const segments = data === undefined ? bytesOf(json[segmentsTag]) : undefined;
	const table = data && entriesOfTable(count, data, wordsOf(data)).subarray(0, count);
	const entries = table ?? (segments && expandedPalette(descriptor, segments, wordsOf(segments)));
	return entries && Buffer.from(eightBitEntries(entries, bits)).toString('base64');
}

/** Palettes are words (OW); in implicit VR some come as US. */
function bytesOf(element: DicomJsonElement | undefined): Buffer | undefined {
	if (element?.InlineBinary !== undefined) return Buffer.from(element.InlineBinary, 'base64');
	const words = element?.Value;
	if (words === undefined) return undefined;
	const bytes = Buffer.alloc(2 * words.length);
	for (const [index, word] of words.entries()) bytes.writeUInt16LE(Number(word) & 0xff_ff, 2 * index);
	return bytes;
}

const wordsOf = (bytes: Buffer) => Uint16Array.from({ length: bytes.length >> 1 }, (_, index) => bytes.readUInt16LE(2 * index));

/** Enhanced multi-frame images state them by frame, or once for all (PS3.3 §C.7.6.16). */
function valuesOf(json: DicomJson): FrameValues[] {
	const shared = itemOf(json, '52009229');
	const frames = json['52009230']?.Value ?? [];
	if (frames.length === 0) return [frameValues([shared, json])];
	return frames.map((_, index) => frameValues([itemOf(json, '52009230', index), shared, json]));
}

function frameValues(groups: readonly (DicomJson | undefined)[]): FrameValues {
	const within = (sequence: string, tag: string) =>
		groups.map((group) => itemOf(group, sequence)).find((item) => item?.[tag] !== undefined) ??
		groups.find((group) => group?.[tag] !== undefined);
	const voi = within('00289132', '00281050');
	const transformation = within('00289145', '00281053');
	const widths = numbersIn(voi, '00281051') ?? [];
	const windows = (numbersIn(voi, '00281050') ?? []).flatMap((center, index) => {
		const width = widths[index];
		return width === undefined || width <= 0 ? [] : [{ center, width, name: textOf(voi, '00281055', index) }];
	});
	return {
		windows,
		slope: numberOf(transformation, '00281053') || 1,
		intercept: numberOf(transformation, '00281052') ?? 0,
		unit: textOf(transformation, '00281054'),
		position: numbersIn(within('00209113', '00200032'), '00200032') ?? null,
		orientation: numbersIn(within('00209116', '00200037'), '00200037') ?? null,
		spacing: numbersIn(within('00289110', '00280030'), '00280030') ?? numbersIn(groups.at(-1), '00181164') ?? null,
	};
}
