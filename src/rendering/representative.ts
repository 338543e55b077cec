import { Failure } from '#core/failure.ts';
import type { RetrievableInstance } from '#record/imaging-query.ts';
import type { PictureWish } from './picture.ts';
import type { EncodedPicture } from './picture-cache.ts';
import type { Renderer } from './renderer.ts';

/** A study that begins with this many instances without an image, such as reports, is taken for one without. */
const triedMax = 20;

/** Tells whether an instance has no picture, or none that can be shown. */
export function isNotShown(error: unknown): error is Failure {
	return error instanceof Failure && (error.code === 'not-acceptable' || error.code === 'too-costly');
}

/**
 * Renders the picture that stands for instances: that of the first one that can be rendered, and of its middle frame where none is named.
 * @throws Failure that of the first instance when none of them can be rendered
 */
export async function representative(
	renderer: Pick<Renderer, 'open' | 'frame'>,
	instances: AsyncIterable<RetrievableInstance>,
	frame: number | undefined,
	wish: PictureWish,
): Promise<EncodedPicture> {
	let refusal: Failure | undefined;
	let tried = 0;
	for await (const instance of instances) {
		if (tried++ === triedMax) break;
		try {
			const middle = frame ?? Math.ceil((await renderer.open(instance)).frames / 2);
			return await renderer.frame(instance, middle, wish);
		} catch (error) {
			if (!isNotShown(error)) throw error;
			refusal ??= error;
		}
	}
	throw refusal ?? new Failure('not-found', 'no instance has these UIDs');
}
