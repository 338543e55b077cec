import assert from 'node:assert/strict';
import type { Page } from 'playwright-core';
import { eventually } from './eventually.ts';
import {
	baselineJpeg,
	colourPicture,
	compressedSlice,
	ctSlice,
	deflatedFrames,
	film,
	htj2kLossless,
	jpeg2000Slice,
	jpegLossless,
	jpegLsLossless,
	rleSlice,
} from './pixel-images.ts';
import type { SentInstance } from './storage-scu.ts';

export const study = '2.999.7.1';

/** The address of the page of a series. */
export const series = (number: number, of = study) => `/studies/north/${of}/series/${of}.${number}`;
export const hostile = '<img src=x onerror=alert(1)>';

/** The HU of the middle of each slice: those of water, bone and air. */
export const stack = [0, 500, -400, 40, 1000] as const;

/** The other compressions are tried with the samples below. */
export const compressions = [
	['JPEG, lossless', jpegLossless],
	['JPEG-LS', jpegLsLossless],
	['HTJ2K', htj2kLossless],
] as const;

export async function sampleImages(): Promise<SentInstance[]> {
	const of = (series: number, number: number) => ({
		...{ studyUid: study, seriesUid: `${study}.${series}`, sopInstanceUid: `${study}.${series}.${number}`, number },
		...(series === 1 ? { studyDescription: hostile, seriesDescription: hostile } : {}),
	});
	return [
		// They come in another order than they are looked at.
		...stack.map((middle, index) => ctSlice(of(1, index + 1), middle)).reverse(),
		colourPicture(of(2, 1), [200, 30, 60]),
		film(of(3, 1), 6),
		rleSlice(of(4, 1), 40),
		await jpeg2000Slice(of(5, 1), 40),
	];
}

/** A study of its own: not every archive takes all of its compressions. */
export const compressed = '2.999.7.2';

export async function compressedImages(): Promise<SentInstance[]> {
	const of = (series: number) => ({
		...{ studyUid: compressed, seriesUid: `${compressed}.${series}`, sopInstanceUid: `${compressed}.${series}.1` },
		...{ studyDate: '20260109', studyDescription: 'Compressed' },
	});
	return [
		baselineJpeg(of(1), 90),
		...(await Promise.all(compressions.map(([, syntax], index) => compressedSlice(of(2 + index), syntax, 40)))),
		await compressedSlice(of(8), deflatedFrames, 40),
		{ ...(await compressedSlice(of(9), jpegLossless, 40)), transferSyntaxUid: deflatedFrames },
	];
}

/** The colour in the middle of the picture. */
function middleOf(page: Page): Promise<number[]> {
	return page.evaluate(`(() => {
		const canvas = document.querySelector('.image-canvas');
		return [...canvas.getContext('2d').getImageData(canvas.width / 2, canvas.height / 2, 1, 1).data].slice(0, 3);
	})()`) as Promise<number[]>;
}

/** The place of the bright square of a slice: its middle, relative to that of the canvas, and its width, in pixels of the page. */
export interface Square {
	x: number;
	y: number;
	width: number;
}

function squareOf(page: Page): Promise<Square> {
	return page.evaluate(`(() => {
		const canvas = document.querySelector('.image-canvas');
		const { data } = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height);
		let [left, right, top, bottom] = [canvas.width, -1, canvas.height, -1];
		for (let y = 0; y < canvas.height; y++)
			for (let x = 0; x < canvas.width; x++)
				if (data[4 * (y * canvas.width + x)] > 60) {
					[left, right] = [Math.min(left, x), Math.max(right, x)];
					[top, bottom] = [Math.min(top, y), Math.max(bottom, y)];
				}
		const ratio = devicePixelRatio;
		return {
			x: ((left + right + 1) / 2 - canvas.width / 2) / ratio,
			y: ((top + bottom + 1) / 2 - canvas.height / 2) / ratio,
			width: (right + 1 - left) / ratio,
		};
	})()`) as Promise<Square>;
}

/** Waits until the square stands where it is expected, within two pixels; without an expectation, until two drawings are alike. */
export async function squareShown(page: Page, what: string, expected?: Square): Promise<Square> {
	let found = await squareOf(page);
	const isNear = (other: Square) => (['x', 'y', 'width'] as const).every((side) => Math.abs(found[side] - other[side]) <= 2);
	await eventually(async () => {
		const before = found;
		found = await squareOf(page);
		return found.width > 0 && isNear(expected ?? before);
	}, what).catch((error: unknown) => assert.fail(`${error}, found ${JSON.stringify(found)}, expected ${JSON.stringify(expected)}`));
	return found;
}

export async function shows(page: Page, colour: readonly number[], what: string): Promise<void> {
	let found: number[] = [];
	await eventually(
		async () => {
			found = await middleOf(page);
			return found.every((value, at) => Math.abs(value - (colour[at] ?? 0)) <= 1);
		},
		`${what}: ${colour.join(' ')}`,
	).catch((error: unknown) => assert.fail(`${error}, found ${found.join(' ')}`));
}

/** PS3.3 §C.11.2.1.2. */
export function grey(value: number, center: number, width: number): number[] {
	const tone = Math.round(255 * Math.min(1, Math.max(0, (value - (center - 0.5)) / (width - 1) + 0.5)));
	return [tone, tone, tone];
}
