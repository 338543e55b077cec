import assert from 'node:assert/strict';
import { inflateSync } from 'node:zlib';

/** A picture as a test looks at it. */
export interface SeenPicture {
	width: number;
	height: number;
	samples: number;
	bytes: Buffer;
}

/** Reads a PNG of 8 bits a sample without interlacing, whatever its filters. */
export function readPng(file: Buffer): SeenPicture {
	assert.equal(file.toString('hex', 0, 8), '89504e470d0a1a0a');
	const data: Buffer[] = [];
	for (let at = 8; at < file.length; at += 12 + file.readUInt32BE(at)) {
		if (file.toString('latin1', at + 4, at + 8) === 'IDAT') data.push(file.subarray(at + 8, at + 8 + file.readUInt32BE(at)));
	}
	const [width, height] = [file.readUInt32BE(16), file.readUInt32BE(20)];
	assert.equal(file[24], 8, 'bits a sample');
	const samples = { 0: 1, 2: 3, 6: 4 }[String(file[25])] ?? assert.fail('colour type');
	const rows = inflateSync(Buffer.concat(data));
	const bytes = Buffer.alloc(width * height * samples);
	const rowBytes = width * samples;
	for (let row = 0; row < height; row++) {
		const filter = rows[row * (rowBytes + 1)];
		for (let at = 0; at < rowBytes; at++) {
			const own = rows[row * (rowBytes + 1) + 1 + at] ?? 0;
			const left = at < samples ? 0 : (bytes[row * rowBytes + at - samples] ?? 0);
			const up = row === 0 ? 0 : (bytes[(row - 1) * rowBytes + at] ?? 0);
			const corner = at < samples || row === 0 ? 0 : (bytes[(row - 1) * rowBytes + at - samples] ?? 0);
			const before = [0, left, up, (left + up) >> 1, paeth(left, up, corner)][filter ?? 0] ?? assert.fail('filter');
			bytes[row * rowBytes + at] = own + before;
		}
	}
	return { width, height, samples, bytes };
}

function paeth(left: number, up: number, corner: number): number {
	const guess = left + up - corner;
	const [toLeft, toUp, toCorner] = [left, up, corner].map((value) => Math.abs(guess - value)) as [number, number, number];
	if (toLeft <= toUp && toLeft <= toCorner) return left;
	return toUp <= toCorner ? up : corner;
}
