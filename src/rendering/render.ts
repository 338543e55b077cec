import { type Attributes, attributesOf, sequences } from './attributes.ts';
import { colourOf422, colourPicture, palettePicture } from './colour.ts';
import { decoded } from './decode.ts';
import { greyPicture } from './grey.ts';
import { jpegOf } from './jpeg.ts';
import { NoPicture, type Picture, type PictureWish } from './picture.ts';
import { pngOf } from './png.ts';
import { fitted } from './resize.ts';
import { storedValues } from './samples.ts';
import { pixelShapeOf } from './shape.ts';
import type { RenderingResult, RenderingTask } from './task.ts';
import { groupsOf } from './window.ts';

/** Renders one frame. A frame that cannot be shown is refused with the reason. */
export async function render(task: RenderingTask): Promise<RenderingResult> {
	try {
		const attributes = attributesOf(task.header, task.transferSyntaxUid, task.frame);
		const picture = fitted(await pictureOf(task, attributes), task.wish.viewport, aspectOf(attributes), task.pixelsMax);
		return { kind: 'rendered', bytes: await encoded(picture, task.wish) };
	} catch (error) {
		if (error instanceof NoPicture) return { kind: 'refused', reason: error.message };
		throw error;
	}
}

async function pictureOf(task: RenderingTask, attributes: Attributes): Promise<Picture> {
	const stated = pixelShapeOf(attributes);
	const { rows: height, columns: width } = stated;
	const pixels = width * height;
	if (pixels > task.pixelsMax) throw new NoPicture(`the image has more than ${task.pixelsMax} pixels`);
	const { frame, shape, layout } = await decoded(task, stated);
	if (shape.samples === 3) {
		const is422 = !task.isEncapsulated && shape.photometric === 'YBR_FULL_422';
		const bytes = is422 ? colourOf422(frame.bytes, pixels) : colourPicture(storedValues(frame, shape, pixels * 3), shape, layout);
		return { width, height, samples: 3, bytes };
	}
	if (shape.samples !== 1) throw new NoPicture(`Samples per Pixel ${shape.samples} is not shown`);
	const values = storedValues(frame, shape, pixels);
	if (shape.photometric === 'PALETTE COLOR') return { width, height, samples: 3, bytes: palettePicture(values, attributes, shape) };
	if (!shape.photometric.startsWith('MONOCHROME')) {
		throw new NoPicture('the Photometric Interpretation does not fit one sample a pixel');
	}
	return { width, height, samples: 1, bytes: greyPicture(values, shape, attributes, task.wish.window) };
}

/** Pixel Aspect Ratio, Pixel Spacing, Imager Pixel Spacing, Nominal Scanned Pixel Spacing: vertical, then horizontal. */
const spacings = [0x0028_0034, 0x0028_0030, 0x0018_1164, 0x0018_2010] as const;
/** A picture with a greater ratio shows nothing; such a value is a mistake. */
const aspectMax = 100;

/** Returns the height of a pixel by its width. */
function aspectOf(attributes: Attributes): number {
	for (const tag of spacings) {
		for (const group of groupsOf(attributes, sequences.pixelMeasures)) {
			const [vertical, horizontal] = group?.numbers(tag) ?? [];
			const aspect = (vertical ?? 0) / (horizontal ?? 0);
			if (aspect >= 1 / aspectMax && aspect <= aspectMax) return aspect;
		}
	}
	return 1;
}

function encoded(picture: Picture, { mediaType, quality }: PictureWish): Uint8Array | Promise<Uint8Array> {
	return mediaType === 'image/png' ? pngOf(picture) : jpegOf(picture, quality);
}
