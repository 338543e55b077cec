import { crc32, deflateSync } from 'node:zlib';
import type { Picture } from './picture.ts';

const signature = Buffer.from('89504e470d0a1a0a', 'hex');

/** Writes a picture as PNG (ISO/IEC 15948), without loss. */
export function pngOf({ width, height, samples, bytes }: Picture): Uint8Array {
	const header = Buffer.alloc(13);
	header.writeUInt32BE(width, 0);
	header.writeUInt32BE(height, 4);
	// 8 bits a sample; grey or red-green-blue.
	header.set([8, samples === 1 ? 0 : 2], 8);
	const rowBytes = width * samples;
	const rows = Buffer.alloc((rowBytes + 1) * height);
	for (let row = 0; row < height; row++) filterUp(bytes, rows, row, rowBytes);
	return Buffer.concat([signature, chunk('IHDR', header), chunk('IDAT', deflateSync(rows, { level: 4 })), chunk('IEND', Buffer.alloc(0))]);
}

/** The filter "Up" (§9.2): each sample less the one above it. */
function filterUp(bytes: Uint8Array, rows: Buffer, row: number, rowBytes: number): void {
	const from = row * rowBytes;
	const to = row * (rowBytes + 1);
	rows[to] = 2;
	for (let at = 0; at < rowBytes; at++) rows[to + 1 + at] = (bytes[from + at] ?? 0) - (row === 0 ? 0 : (bytes[from - rowBytes + at] ?? 0));
}

function chunk(type: string, data: Uint8Array): Buffer {
	const typed = Buffer.concat([Buffer.from(type, 'latin1'), data]);
	const ends = Buffer.alloc(8);
	ends.writeUInt32BE(data.length, 0);
	ends.writeUInt32BE(crc32(typed), 4);
	return Buffer.concat([ends.subarray(0, 4), typed, ends.subarray(4)]);
}
