/** Data sets made by hand, element by element. */

const longVrs = new Set(['OB', 'OD', 'OF', 'OL', 'OV', 'OW', 'SQ', 'SV', 'UC', 'UN', 'UR', 'UT', 'UV']);

export interface Writing {
	explicit: boolean;
	littleEndian: boolean;
}

export const explicitLittle: Writing = { explicit: true, littleEndian: true };

function numbers(bytes: number, value: number, littleEndian: boolean): Buffer {
	const buffer = Buffer.alloc(bytes);
	if (littleEndian) buffer.writeUIntLE(value, 0, bytes);
	else buffer.writeUIntBE(value, 0, bytes);
	return buffer;
}

/** One element; a text is Latin-1 and padded to even length, a number is US. `length` overrides the true one. */
export function element(tag: number, vr: string, value: string | number | Buffer, writing = explicitLittle, length?: number): Buffer {
	const { explicit, littleEndian } = writing;
	const bytes =
		typeof value === 'number'
			? numbers(2, value, littleEndian)
			: typeof value === 'string'
				? Buffer.from(value.length % 2 === 0 ? value : value + (vr === 'UI' ? '\0' : ' '), 'latin1')
				: value;
	const size = length ?? bytes.length;
	const head = [numbers(2, tag >>> 16, littleEndian), numbers(2, tag & 0xff_ff, littleEndian)];
	if (!explicit) return Buffer.concat([...head, numbers(4, size, littleEndian), bytes]);
	head.push(Buffer.from(vr, 'latin1'));
	if (longVrs.has(vr)) head.push(Buffer.alloc(2), numbers(4, size, littleEndian));
	else head.push(numbers(2, size, littleEndian));
	return Buffer.concat([...head, bytes]);
}

const undefinedLength = 0xff_ff_ff_ff;

function marker(element: number, length: number, { littleEndian }: Writing): Buffer {
	return Buffer.concat([numbers(2, 0xff_fe, littleEndian), numbers(2, element, littleEndian), numbers(4, length, littleEndian)]);
}

/** A sequence, its lengths defined or not. */
export function sequence(tag: number, items: readonly Buffer[], { isDefined = true, writing = explicitLittle, vr = 'SQ' } = {}): Buffer {
	const inner = items.flatMap((item) =>
		isDefined
			? [marker(0xe0_00, item.length, writing), item]
			: [marker(0xe0_00, undefinedLength, writing), item, marker(0xe0_0d, 0, writing)],
	);
	const value = Buffer.concat(isDefined ? inner : [...inner, marker(0xe0_dd, 0, writing)]);
	return element(tag, vr, value, writing, isDefined ? undefined : undefinedLength);
}

/** Encapsulated pixel data (PS3.5 §A.4): a table of offsets, which may be empty, and fragments of even length. */
export function encapsulated(offsets: readonly number[], fragments: readonly Buffer[]): Buffer {
	const table = Buffer.concat(offsets.map((offset) => numbers(4, offset, true)));
	const items = [table, ...fragments].flatMap((bytes) => [marker(0xe0_00, bytes.length, explicitLittle), bytes]);
	const value = Buffer.concat([...items, marker(0xe0_dd, 0, explicitLittle)]);
	return element(0x7fe0_0010, 'OB', value, explicitLittle, undefinedLength);
}

export interface SampleInstance {
	sopClassUid: string;
	sopInstanceUid: string;
	studyUid: string;
	seriesUid: string;
	patientId: string;
	accessionNumber: string;
	/** Bytes of pixel data. */
	pixels: Buffer;
	writing: Writing;
}

export const ctStorage = '1.2.840.10008.5.1.4.1.1.2';

/** A CT as modalities send it, cut down to what is read and some of what is not. */
export function sampleDataSet(given: Partial<SampleInstance> = {}): Buffer {
	const writing = given.writing ?? explicitLittle;
	const of = (tag: number, vr: string, value: string | number | Buffer) => element(tag, vr, value, writing);
	return Buffer.concat([
		of(0x0008_0005, 'CS', 'ISO_IR 100'),
		of(0x0008_0008, 'CS', 'ORIGINAL\\PRIMARY\\AXIAL'),
		of(0x0008_0016, 'UI', given.sopClassUid ?? ctStorage),
		of(0x0008_0018, 'UI', given.sopInstanceUid ?? '1.2.3.4.5'),
		of(0x0008_0020, 'DA', '20240131'),
		of(0x0008_0021, 'DA', '20240131'),
		of(0x0008_0030, 'TM', '102030.123456'),
		of(0x0008_0031, 'TM', '1021'),
		of(0x0008_0050, 'SH', given.accessionNumber ?? 'ACC-1'),
		sequence(0x0008_0051, [of(0x0040_0031, 'UT', 'RIS')], { isDefined: false, writing }),
		of(0x0008_0060, 'CS', 'CT'),
		of(0x0008_0090, 'PN', 'Doe^Jane'),
		of(0x0008_1010, 'SH', 'CT-SCANNER-2'),
		of(0x0008_1030, 'LO', 'Sch\xe4del'),
		of(0x0008_103e, 'LO', 'axial 5 mm'),
		sequence(0x0008_1140, [of(0x0008_1155, 'UI', '9.9.9'), of(0x0020_000d, 'UI', '9.9')], { writing }),
		of(0x0010_0010, 'PN', 'M\xfcller^J\xf6rg^^Dr.'),
		of(0x0010_0020, 'LO', given.patientId ?? 'P-1'),
		of(0x0010_0021, 'LO', 'HOSPITAL'),
		of(0x0010_0030, 'DA', '19700229'),
		of(0x0010_0040, 'CS', 'M'),
		of(0x0018_0015, 'CS', 'HEAD'),
		of(0x0019_0010, 'LO', 'A PRIVATE CREATOR'),
		of(0x0019_1001, 'UN', Buffer.alloc(600, 7)),
		of(0x0020_000d, 'UI', given.studyUid ?? '1.2.3'),
		of(0x0020_000e, 'UI', given.seriesUid ?? '1.2.3.4'),
		of(0x0020_0010, 'SH', 'S1'),
		of(0x0020_0011, 'IS', '2'),
		of(0x0020_0013, 'IS', '17'),
		of(0x0028_0008, 'IS', '1'),
		of(0x0028_0010, 'US', 512),
		of(0x0028_0011, 'US', 256),
		of(0x7fe0_0010, 'OW', given.pixels ?? Buffer.alloc(64)),
	]);
}
