import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, test } from 'node:test';
import { separateIntervals } from '#rendering/codecs/lossless-intervals.ts';
import { decodeLosslessJpeg } from '#rendering/codecs/streams.ts';
import type { PixelShape } from '#rendering/shape.ts';
import { losslessJpeg } from '#test/support/lossless-jpeg.ts';

interface Decoded {
	bytes: ArrayBuffer;
	rows: number;
	columns: number;
	samples: number;
	bits: number;
}

/** The codec of the console, whose types are those of a browser. */
async function consoleDecoder(): Promise<(bytes: Uint8Array) => Decoded> {
	const path = new URL('../../src/console/images/codecs/codec-jpeg-lossless.ts', import.meta.url).href;
	const { decoder } = (await import(path)) as { decoder(): Promise<(bytes: Uint8Array) => Decoded> };
	return decoder();
}

/** Numbers that look random, and are the same in every run. */
function numbers(seed: number): (below: number) => number {
	let state = seed;
	return (below) => {
		state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
		return Math.floor((state / 2 ** 32) * below);
	};
}

const kinds = [
	{ title: 'grey of 16 bits', precision: 16, components: 1, spread: 12 },
	{ title: 'grey of 16 bits, all of them', precision: 16, components: 1, spread: 65_536 },
	{ title: 'grey of 8 bits', precision: 8, components: 1, spread: 9 },
	{ title: 'colour', precision: 8, components: 3, spread: 256 },
];

describe('every sample of a lossless JPEG comes back, the last one too', () => {
	for (const { title, precision, components, spread } of kinds) {
		test(title, async () => {
			const next = numbers(precision + components + spread);
			const decode = await consoleDecoder();
			for (let image = 0; image < 200; image++) {
				const [rows, columns] = [1 + next(9), 1 + next(9)];
				const [selection, restartRows] = [1 + next(6), next(4)];
				const base = next(2 ** precision - spread + 1);
				const samples = Array.from({ length: rows * columns * components }, () => base + next(spread));
				const stream = losslessJpeg(columns, rows, samples, { precision, components, selection, restartRows });
				const expected = Buffer.from((precision > 8 ? Uint16Array : Uint8Array).from(samples).buffer);
				const stated = `${rows} rows, ${columns} columns, selection ${selection}, restart ${restartRows}`;
				const shape: PixelShape = {
					...{ rows, columns, samples: components, photometric: components === 3 ? 'RGB' : 'MONOCHROME2', isPlanar: false },
					...{ bitsAllocated: precision, bitsStored: precision, highBit: precision - 1, isSigned: false },
				};
				const opened = await decodeLosslessJpeg(stream, shape);
				assert.deepEqual(Buffer.from(opened.bytes), expected, stated);
				const { bytes, ...seen } = decode(stream);
				assert.deepEqual(Buffer.from(bytes), expected, `in the console: ${stated}`);
				assert.deepEqual([seen.rows, seen.columns, seen.samples, seen.bits], [rows, columns, components, precision]);
			}
		});
	}
});

test('the console prepares a stream as the service does, by the same text', () => {
	const textOf = (room: string) => readFileSync(new URL(`../../src/${room}/codecs/lossless-intervals.ts`, import.meta.url), 'utf8');
	assert.equal(textOf('console/images'), textOf('rendering'));
});

describe('a stream that is no lossless JPEG', () => {
	test('stays as it is', () => {
		const whole = losslessJpeg(
			4,
			4,
			Array.from({ length: 16 }, (_, index) => index),
			{ restartRows: 2 },
		);
		assert.equal(separateIntervals(whole).length, 2);
		const lossy = Uint8Array.from(whole);
		lossy[3] = 0xc0;
		// Restart markers that do not stand behind whole rows.
		const uneven = Uint8Array.from(whole);
		uneven[Buffer.from(whole).indexOf(Buffer.from('ffdd', 'hex')) + 5] = 7;
		for (const bytes of [new Uint8Array(0), Uint8Array.of(1, 2, 3), whole.subarray(0, 40), lossy, uneven])
			assert.deepEqual(separateIntervals(bytes), [Uint8Array.from(bytes)]);
	});
});
