import { crc32 } from 'node:zlib';

/**
 * The layout of a segment: a page that describes the segment, then one record behind the other. A record is a head and a content. Large
 * contents begin and end at pages, so that they can be written past the page cache; small ones are packed. Every number is little-endian.
 */
export const pageBytes = 4096;
/** Packed records begin at multiples of this. */
const packBytes = 8;
/** Contents from this size on are aligned. Below it, the padding would cost more than a copy through the page cache. */
export const alignedFrom = 64 * 1024;

const version = 1;
const segmentMagic = Buffer.from('TRBSEGM1', 'latin1');
export const recordMagic = Buffer.from('TRBOBJC1', 'latin1');
const checksumBytes = 4;

/** The number of bytes of a segment's head before the text, and of a record's. */
const segmentTextAt = 40;
const recordTextAt = 100;

export interface SegmentHead {
	/** 32 hexadecimal digits. */
	id: string;
	createdMs: number;
	/** The process start and the thread that alone append to it. */
	writer: string;
}

/** A record tells this about its content, so that the index can be made from it again. */
export interface RecordText {
	site: string;
	/** The id of the delivery, 32 hexadecimal digits. */
	id: string;
	sopInstanceUid: string;
	callingAe: string;
	source: string;
}

export interface RecordHead {
	offset: number;
	headBytes: number;
	contentBytes: number;
	isAligned: boolean;
	/** Hex SHA-256 of the content behind its preamble, which is the head of the DICOM file. */
	digest: string;
	preambleBytes: number;
	preambleChecksum: number;
	writtenMs: number;
	text: RecordText;
}

function roundUp(bytes: number, unit: number): number {
	return Math.ceil(bytes / unit) * unit;
}

/** Returns where a record may begin, at a position or behind it. */
export function startOf(position: number, isAligned: boolean): number {
	return roundUp(position, isAligned ? pageBytes : packBytes);
}

/** Returns the size of a record with its padding. */
export function recordBytes({ headBytes, contentBytes, isAligned }: Pick<RecordHead, 'headBytes' | 'contentBytes' | 'isAligned'>): number {
	return headBytes + roundUp(contentBytes, isAligned ? pageBytes : packBytes);
}

export function encodeSegmentHead({ id, createdMs, writer }: SegmentHead): Buffer {
	const page = Buffer.alloc(pageBytes);
	segmentMagic.copy(page);
	page.writeUInt16LE(version, 8);
	page.writeUInt32LE(Buffer.byteLength(writer), 12);
	page.write(id, 16, 'hex');
	page.writeBigUInt64LE(BigInt(createdMs), 32);
	page.write(writer, segmentTextAt, 'utf8');
	page.writeUInt32LE(crc32(page.subarray(0, pageBytes - checksumBytes)), pageBytes - checksumBytes);
	return page;
}

/** Returns undefined for anything but the whole head of a segment that this version can read. */
export function decodeSegmentHead(page: Buffer): SegmentHead | undefined {
	if (page.length < pageBytes || !page.subarray(0, 8).equals(segmentMagic) || page.readUInt16LE(8) !== version) return undefined;
	if (crc32(page.subarray(0, pageBytes - checksumBytes)) !== page.readUInt32LE(pageBytes - checksumBytes)) return undefined;
	const writer = page.toString('utf8', segmentTextAt, segmentTextAt + page.readUInt32LE(12));
	return { id: page.toString('hex', 16, 32), createdMs: Number(page.readBigUInt64LE(32)), writer };
}

/** A record that is about to be written. The rest of its head follows from the place that it gets. */
export type NewRecord = Omit<RecordHead, 'offset' | 'headBytes'>;

/** Returns the text of a record, and the size of its head. */
export function measureRecord({ text, isAligned }: Pick<NewRecord, 'text' | 'isAligned'>): { text: Buffer; headBytes: number } {
	const { site, id, sopInstanceUid, callingAe, source } = text;
	const bytes = Buffer.from(JSON.stringify([site, id, sopInstanceUid, callingAe, source]));
	const needed = recordTextAt + bytes.length + checksumBytes;
	if (needed > pageBytes) throw new RangeError('the description of an object is too long for the head of its record');
	return { text: bytes, headBytes: isAligned ? pageBytes : roundUp(needed, packBytes) };
}

/** Writes the head of a record into `target`, which has at least `headBytes`. */
export function encodeRecordHead(target: Buffer, record: NewRecord, segment: string, offset: number, text: Buffer): void {
	const headBytes = record.isAligned ? pageBytes : roundUp(recordTextAt + text.length + checksumBytes, packBytes);
	target.fill(0, 0, headBytes);
	recordMagic.copy(target);
	target.writeUInt16LE(version, 8);
	target.writeUInt16LE(record.isAligned ? 1 : 0, 10);
	target.writeUInt32LE(headBytes, 12);
	target.writeBigUInt64LE(BigInt(record.contentBytes), 16);
	target.writeBigUInt64LE(BigInt(offset), 24);
	target.write(segment, 32, 'hex');
	target.write(record.digest, 48, 'hex');
	target.writeUInt32LE(record.preambleBytes, 80);
	target.writeUInt32LE(record.preambleChecksum, 84);
	target.writeBigUInt64LE(BigInt(record.writtenMs), 88);
	target.writeUInt32LE(text.length, 96);
	text.copy(target, recordTextAt);
	const end = recordTextAt + text.length;
	target.writeUInt32LE(crc32(target.subarray(0, end)), end);
}

/**
 * Reads the head of the record that begins with `bytes`. Segment and offset are part of what is checked: the content of an image may contain
 * a whole segment.
 */
export function decodeRecordHead(bytes: Buffer, segment: string, offset: number): RecordHead | undefined {
	if (bytes.length < recordTextAt + checksumBytes || !bytes.subarray(0, 8).equals(recordMagic)) return undefined;
	if (bytes.readUInt16LE(8) !== version || bytes.readBigUInt64LE(24) !== BigInt(offset)) return undefined;
	const end = recordTextAt + bytes.readUInt32LE(96);
	if (end + checksumBytes > Math.min(bytes.length, pageBytes) || bytes.toString('hex', 32, 48) !== segment) return undefined;
	if (crc32(bytes.subarray(0, end)) !== bytes.readUInt32LE(end)) return undefined;
	const [site = '', id = '', sopInstanceUid = '', callingAe = '', source = ''] = JSON.parse(
		bytes.toString('utf8', recordTextAt, end),
	) as string[];
	return {
		offset,
		headBytes: bytes.readUInt32LE(12),
		contentBytes: Number(bytes.readBigUInt64LE(16)),
		isAligned: bytes.readUInt16LE(10) === 1,
		digest: bytes.toString('hex', 48, 80),
		preambleBytes: bytes.readUInt32LE(80),
		preambleChecksum: bytes.readUInt32LE(84),
		writtenMs: Number(bytes.readBigUInt64LE(88)),
		text: { site, id, sopInstanceUid, callingAe, source },
	};
}
