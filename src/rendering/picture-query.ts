import { Failure } from '#core/failure.ts';
import { type PictureType, type PictureWish, type Viewport, type Window, windowFunctions } from './picture.ts';

/** A thumbnail is fitted into a square of this side where no viewport says otherwise. */
const thumbnailPixels = 128;
const defaultQuality = 90;
/** JPEG holds no more pixels to a side. */
const sideMax = 65_535;
const number = /^[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d{1,3})?$/;

/**
 * Reads the query parameters of a rendered resource (PS3.18 §8.3.5).
 * @throws Failure `invalid`; `not-supported` for a parameter that would have to change the picture and does not
 */
export function pictureWish(query: URLSearchParams, mediaType: PictureType, isThumbnail: boolean): PictureWish {
	if (query.has('annotation'))
		throw new Failure('not-supported', 'the parameter annotation is not supported: nothing is written into a picture');
	const profile = query.get('iccprofile');
	if (profile !== null && profile !== 'no') {
		throw new Failure('not-supported', 'the parameter iccprofile may only be no: pictures have no colour profile');
	}
	const viewport = viewportOf(query.get('viewport'), isThumbnail);
	return {
		mediaType,
		quality: qualityOf(query.get('quality')),
		window: windowOf(query.get('window')),
		viewport: viewport ?? (isThumbnail ? { width: thumbnailPixels, height: thumbnailPixels, region: undefined } : undefined),
	};
}

function qualityOf(text: string | null): number {
	if (text === null) return defaultQuality;
	const quality = Number(text);
	if (!/^\d{1,3}$/.test(text) || quality < 1 || quality > 100) throw invalid('quality', 'a whole number from 1 to 100');
	return quality;
}

function windowOf(text: string | null): Window | undefined {
	if (text === null) return undefined;
	const [center = '', width = '', name = 'linear', ...more] = text.split(',');
	const shape = windowFunctions.find((known) => known === name.toLowerCase());
	const expected = `center,width,function with a function of ${windowFunctions.join(', ')}`;
	if (!number.test(center) || !number.test(width) || shape === undefined || more.length > 0) throw invalid('window', expected);
	const window = { center: Number(center), width: Number(width), shape };
	if (!Number.isFinite(window.center) || !Number.isFinite(window.width)) throw invalid('window', expected);
	if (window.width <= 0 || (shape === 'linear' && window.width < 1)) {
		throw invalid('window', 'a width of at least 1, or above 0 with linear-exact and sigmoid');
	}
	return window;
}

function viewportOf(text: string | null, isThumbnail: boolean): Viewport | undefined {
	if (text === null) return undefined;
	const expected = isThumbnail ? 'width,height' : 'width,height or width,height,x,y,region width,region height';
	const parts = text.split(',');
	if (parts.length !== 2 && (isThumbnail || parts.length !== 6)) throw invalid('viewport', expected);
	const [width = '', height = '', ...region] = parts;
	const size = { width: side(width), height: side(height) };
	if (size.width === undefined || size.height === undefined || size.width < 1 || size.height < 1) throw invalid('viewport', expected);
	if (region.some((part) => part !== '' && side(part.replace(/^-/, '')) === undefined)) throw invalid('viewport', expected);
	const [x = '', y = '', across = '', down = ''] = region;
	if (x.startsWith('-') || y.startsWith('-') || Number(across || 1) === 0 || Number(down || 1) === 0) throw invalid('viewport', expected);
	const given = (part: string) => (part === '' ? undefined : Number(part));
	const shown = { x: Number(x), y: Number(y), width: given(across), height: given(down) };
	return { width: size.width, height: size.height, region: region.length === 0 ? undefined : shown };
}

function side(text: string): number | undefined {
	const value = Number(text);
	return /^\d{1,5}$/.test(text) && value <= sideMax ? value : undefined;
}

function invalid(parameter: string, expected: string): Failure {
	return new Failure('invalid', `the parameter ${parameter} must be ${expected}`, { location: { expression: parameter } });
}
