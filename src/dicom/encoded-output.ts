import type { Encoding } from './transfer-syntax.ts';

/** Small writes are gathered to pieces of this length; longer values go out as they are. */
const pieceBytes = 32_768;
/** A buffer size: short writes come into one allocation of this length. */
const ownPieceBytes = 4096;

/** Pieces of a data set that is being written. */
export class EncodedOutput {
	#pieces: Buffer[] = [];
	#open: Buffer = Buffer.allocUnsafe(pieceBytes);
	#filled = 0;

	/** The bytes may be kept. */
	write(bytes: Buffer): void {
		if (bytes.length >= ownPieceBytes) {
			this.#flush();
			this.#pieces.push(bytes);
			return;
		}
		if (this.#filled + bytes.length > this.#open.length) this.#flush();
		this.#filled += bytes.copy(this.#open, this.#filled);
	}

	/** Returns what was written since the last call. */
	take(): Buffer[] {
		this.#flush();
		const pieces = this.#pieces;
		this.#pieces = [];
		return pieces;
	}

	#flush(): void {
		if (this.#filled > 0) this.#pieces.push(this.#open.subarray(0, this.#filled));
		const rest = this.#open.subarray(this.#filled);
		this.#open = rest.length < ownPieceBytes ? Buffer.allocUnsafe(pieceBytes) : rest;
		this.#filled = 0;
	}
}

type ByteOrder = Pick<Encoding, 'littleEndian'>;

/** Writes the tag and a length of four bytes, as implicit VR has them, and items and delimiters always (PS3.5 §7.1.3, §7.5). */
export function plainHeader(tag: number, length: number, { littleEndian }: ByteOrder): Buffer {
	const bytes = Buffer.allocUnsafe(8);
	writeTag(bytes, tag, littleEndian);
	if (littleEndian) bytes.writeUInt32LE(length, 4);
	else bytes.writeUInt32BE(length, 4);
	return bytes;
}

/** Writes the header of an element in explicit VR (PS3.5 §7.1.2). */
export function explicitHeader(tag: number, vr: string, length: number, isLong: boolean, { littleEndian }: ByteOrder): Buffer {
	const bytes = isLong ? Buffer.alloc(12) : Buffer.allocUnsafe(8);
	writeTag(bytes, tag, littleEndian);
	bytes.write(vr, 4, 2, 'latin1');
	if (isLong && littleEndian) bytes.writeUInt32LE(length, 8);
	else if (isLong) bytes.writeUInt32BE(length, 8);
	else if (littleEndian) bytes.writeUInt16LE(length, 6);
	else bytes.writeUInt16BE(length, 6);
	return bytes;
}

function writeTag(bytes: Buffer, tag: number, littleEndian: boolean): void {
	const group = Math.floor(tag / 0x1_00_00);
	if (littleEndian) {
		bytes.writeUInt16LE(group, 0);
		bytes.writeUInt16LE(tag & 0xff_ff, 2);
	} else {
		bytes.writeUInt16BE(group, 0);
		bytes.writeUInt16BE(tag & 0xff_ff, 2);
	}
}
