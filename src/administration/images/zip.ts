import { crc32 } from 'node:zlib';

/** A file of an archive. */
export interface ZipEntry {
	/** The path in the archive, with slashes; ASCII. */
	name: string;
	/** Is called once or twice, and gives the same bytes each time. */
	read(): AsyncIterable<Uint8Array>;
}

/** A longer file is read twice: its sum stands before its bytes, and nobody should have to hold it. */
const heldBytesMax = 8 * 1024 * 1024;
const most32 = 0xff_ff_ff_ff;
const most16 = 0xff_ff;
/** The version of the format with 64-bit lengths. */
const version = 45;

interface Measured {
	name: Buffer;
	sum: number;
	length: number;
	/** Undefined where there are too many bytes to hold. */
	held: Uint8Array[] | undefined;
	/** The place of its header in the archive. */
	at: number;
}

/**
 * Writes a ZIP archive (APPNOTE 6.3) while its files are read. They are stored as they are, because images are compressed already or gain
 * little, and their lengths and sums stand before them, so that every tool reads the archive, also from a stream.
 * @throws Error when a file changes while it is read
 */
export async function* zipped(entries: AsyncIterable<ZipEntry>, at: Date): AsyncGenerator<Uint8Array> {
	const directory: Buffer[] = [];
	let position = 0;
	for await (const entry of entries) {
		const measured = await measure(entry, position);
		const head = localHeader(measured, at);
		yield head;
		position += head.length + measured.length;
		if (measured.held) yield* measured.held;
		else yield* unchanged(entry, measured);
		directory.push(directoryEntry(measured, at));
	}
	const directoryBytes = directory.reduce((sum, { length }) => sum + length, 0);
	yield* directory;
	yield ending(directory.length, directoryBytes, position);
}

async function measure(entry: ZipEntry, at: number): Promise<Measured> {
	let sum = 0;
	let length = 0;
	let held: Uint8Array[] | undefined = [];
	for await (const piece of entry.read()) {
		sum = crc32(piece, sum);
		length += piece.length;
		if (length > heldBytesMax) held = undefined;
		// Whoever reads may use the buffer of a piece again.
		held?.push(Uint8Array.from(piece));
	}
	return { name: Buffer.from(entry.name, 'ascii'), sum, length, held, at };
}

async function* unchanged(entry: ZipEntry, { length, sum }: Measured): AsyncGenerator<Uint8Array> {
	let read = 0;
	let found = 0;
	for await (const piece of entry.read()) {
		read += piece.length;
		found = crc32(piece, found);
		yield piece;
	}
	if (read !== length || found !== sum) throw new Error('a file changed while it was packed');
}

/** Date and time of MS-DOS; they begin in 1980. */
function dosTime(at: Date): number {
	const year = Math.max(0, at.getUTCFullYear() - 1980);
	const date = (year << 9) | ((at.getUTCMonth() + 1) << 5) | at.getUTCDate();
	return ((date << 16) | (at.getUTCHours() << 11) | (at.getUTCMinutes() << 5) | (at.getUTCSeconds() >> 1)) >>> 0;
}

function long(...values: readonly number[]): Buffer {
	const bytes = Buffer.alloc(8 * values.length);
	for (const [index, value] of values.entries()) bytes.writeBigUInt64LE(BigInt(value), 8 * index);
	return bytes;
}

function extra(values: Buffer): Buffer {
	if (values.length === 0) return values;
	const head = Buffer.alloc(4);
	head.writeUInt16LE(1, 0);
	head.writeUInt16LE(values.length, 2);
	return Buffer.concat([head, values]);
}

function localHeader({ name, sum, length }: Measured, at: Date): Buffer {
	const isLong = length >= most32;
	const further = extra(isLong ? long(length, length) : Buffer.alloc(0));
	const head = Buffer.alloc(30);
	head.writeUInt32LE(0x04_03_4b_50, 0);
	head.writeUInt16LE(version, 4);
	head.writeUInt32LE(dosTime(at), 10);
	head.writeUInt32LE(sum, 14);
	head.writeUInt32LE(isLong ? most32 : length, 18);
	head.writeUInt32LE(isLong ? most32 : length, 22);
	head.writeUInt16LE(name.length, 26);
	head.writeUInt16LE(further.length, 28);
	return Buffer.concat([head, name, further]);
}

function directoryEntry({ name, sum, length, at: offset }: Measured, at: Date): Buffer {
	const isLong = length >= most32;
	const isFar = offset >= most32;
	const further = extra(Buffer.concat([...(isLong ? [long(length, length)] : []), ...(isFar ? [long(offset)] : [])]));
	const head = Buffer.alloc(46);
	head.writeUInt32LE(0x02_01_4b_50, 0);
	head.writeUInt16LE(version, 4);
	head.writeUInt16LE(version, 6);
	head.writeUInt32LE(dosTime(at), 12);
	head.writeUInt32LE(sum, 16);
	head.writeUInt32LE(isLong ? most32 : length, 20);
	head.writeUInt32LE(isLong ? most32 : length, 24);
	head.writeUInt16LE(name.length, 28);
	head.writeUInt16LE(further.length, 30);
	head.writeUInt32LE(isFar ? most32 : offset, 42);
	return Buffer.concat([head, name, further]);
}

/** The end of the archive, behind one with 64-bit numbers where the others are too short. */
function ending(count: number, directoryBytes: number, position: number): Buffer {
	const end = Buffer.alloc(22);
	end.writeUInt32LE(0x06_05_4b_50, 0);
	end.writeUInt16LE(Math.min(count, most16), 8);
	end.writeUInt16LE(Math.min(count, most16), 10);
	end.writeUInt32LE(Math.min(directoryBytes, most32), 12);
	end.writeUInt32LE(Math.min(position, most32), 16);
	if (count < most16 && directoryBytes < most32 && position < most32) return end;
	const far = Buffer.alloc(24);
	far.writeUInt32LE(0x06_06_4b_50, 0);
	far.writeBigUInt64LE(44n, 4);
	far.writeUInt16LE(version, 12);
	far.writeUInt16LE(version, 14);
	const locator = Buffer.alloc(20);
	locator.writeUInt32LE(0x07_06_4b_50, 0);
	locator.writeBigUInt64LE(BigInt(position + directoryBytes), 8);
	locator.writeUInt32LE(1, 16);
	return Buffer.concat([far, long(count, count, directoryBytes, position), locator, end]);
}
