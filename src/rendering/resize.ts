import { NoPicture, type Picture, type Viewport } from './picture.ts';

interface Region {
	x: number;
	y: number;
	width: number;
	height: number;
}

/**
 * Fits a picture into a viewport with the proportions of the region that it shows (PS3.18 §8.3.5.1.3). Without one it has a pixel for each of
 * the image, and more where those are not square.
 * @param aspect height of a pixel of the image by its width
 */
export function fitted(picture: Picture, viewport: Viewport | undefined, aspect: number, pixelsMax: number): Picture {
	const flips = { x: (viewport?.region?.width ?? 1) < 0, y: (viewport?.region?.height ?? 1) < 0 };
	const region = regionOf(picture, viewport);
	const natural = { width: region.width * Math.max(1, 1 / aspect), height: region.height * Math.max(1, aspect) };
	const scale = viewport ? Math.min(viewport.width / natural.width, viewport.height / natural.height) : 1;
	const width = Math.max(1, Math.round(natural.width * scale));
	const height = Math.max(1, Math.round(natural.height * scale));
	if (width * height > pixelsMax) throw new NoPicture(`the picture would have more than ${pixelsMax} pixels`);
	const isWhole = region.width === picture.width && region.height === picture.height;
	const scaled = isWhole && width === picture.width && height === picture.height ? picture : resampled(picture, region, width, height);
	return flips.x || flips.y ? flipped(scaled, flips) : scaled;
}

function regionOf({ width, height }: Picture, viewport: Viewport | undefined): Region {
	const asked = viewport?.region ?? { x: 0, y: 0, width: undefined, height: undefined };
	const { x, y } = asked;
	const region = { x, y, width: Math.abs(asked.width ?? width - x), height: Math.abs(asked.height ?? height - y) };
	if (x + region.width > width || y + region.height > height || region.width < 1 || region.height < 1) {
		throw new NoPicture('the region of the viewport lies outside the image');
	}
	return region;
}

/** The pixels of the image that a pixel of the picture is made of, with their shares. */
interface Taps {
	from: number;
	shares: number[];
}

/** Smaller pictures take the average of what each pixel covers, larger ones what lies between two. */
function tapsOf(start: number, length: number, count: number, most: number): Taps[] {
	const step = length / count;
	return Array.from({ length: count }, (_, index) => {
		const centre = start + (index + 0.5) * step;
		const reach = Math.max(1, step) / 2;
		const [low, high] = [centre - reach, centre + reach];
		const from = Math.max(0, Math.floor(low));
		const shares: number[] = [];
		for (let at = Math.floor(low); at < high; at++) {
			const share = Math.min(at + 1, high) - Math.max(at, low);
			const place = Math.max(0, Math.min(most - 1, at)) - from;
			shares[place] = (shares[place] ?? 0) + share / (2 * reach);
		}
		return { from, shares: Array.from(shares, (share) => share ?? 0) };
	});
}

function resampled(
	{ width: sourceWidth, height: sourceHeight, samples, bytes }: Picture,
	region: Region,
	width: number,
	height: number,
): Picture {
	const across = tapsOf(region.x, region.width, width, sourceWidth);
	const down = tapsOf(region.y, region.height, height, sourceHeight);
	const out = new Uint8Array(width * height * samples);
	const row = new Float32Array(sourceWidth * samples);
	for (const [y, { from, shares }] of down.entries()) {
		row.fill(0);
		for (const [index, share] of shares.entries()) {
			const base = (from + index) * row.length;
			for (let at = 0; at < row.length; at++) row[at] = (row[at] ?? 0) + share * (bytes[base + at] ?? 0);
		}
		for (const [x, taps] of across.entries()) {
			for (let sample = 0; sample < samples; sample++) {
				let sum = 0;
				for (let index = 0; index < taps.shares.length; index++) {
					sum += (taps.shares[index] ?? 0) * (row[(taps.from + index) * samples + sample] ?? 0);
				}
				out[(y * width + x) * samples + sample] = Math.round(sum);
			}
		}
	}
	return { width, height, samples, bytes: out };
}

function flipped({ width, height, samples, bytes }: Picture, flips: { x: boolean; y: boolean }): Picture {
	const out = new Uint8Array(bytes.length);
	for (let y = 0; y < height; y++) {
		for (let x = 0; x < width; x++) {
			const from = ((flips.y ? height - 1 - y : y) * width + (flips.x ? width - 1 - x : x)) * samples;
			for (let sample = 0; sample < samples; sample++) out[(y * width + x) * samples + sample] = bytes[from + sample] ?? 0;
		}
	}
	return { width, height, samples, bytes: out };
}
