import { createHash } from 'node:crypto';
import { Failure } from '#core/failure.ts';
import type { Log } from '#core/log.ts';
import { Recent } from '#imaging/recent.ts';
import type { RetrievableInstance } from '#record/imaging-query.ts';
import type { ObjectStore } from '#storage/objects/object-store.ts';
import { FrameSource } from './frame-source.ts';
import type { RenderingLimits } from './limits.ts';
import type { RenderingMetrics } from './metrics.ts';
import type { PictureWish } from './picture.ts';
import { type EncodedPicture, PictureCache } from './picture-cache.ts';
import { RenderingThreads } from './rendering-threads.ts';

/** Callers ask for no more images in turns. One has a table of its frames and 64 KiB of its bytes. */
const openedMax = 16;

interface Options {
	worker: URL;
	objects: Pick<ObjectStore, 'read' | 'size'>;
	limits: RenderingLimits & { dicomMetadataBytesMax: number };
	metrics: Pick<RenderingMetrics, 'renderedFrames'>;
	log: Log;
}

/** Renders images of the object store. Whoever asks has found the instance in a site to which the caller has access. */
export class Renderer {
	readonly #options: Options;
	readonly #threads: RenderingThreads;
	readonly #cache: PictureCache;
	readonly #opened = new Recent<FrameSource>(openedMax);

	constructor(options: Options) {
		this.#options = options;
		this.#threads = new RenderingThreads(options);
		this.#cache = new PictureCache(options.limits.renderedCacheBytesMax);
	}

	/** Opens the image of an instance, to count its frames. @throws Failure `not-acceptable`, `unavailable` */
	open(instance: RetrievableInstance): Promise<FrameSource> {
		const { objects, limits } = this.#options;
		const bounds = { headerBytesMax: limits.dicomMetadataBytesMax, pixelsMax: limits.renderedPixelsMax };
		return this.#opened.of(instance.objectKey, () => FrameSource.open(objects, instance, bounds));
	}

	/**
	 * Renders a frame of an instance, or takes it from memory. An object never changes under its key, so neither does its picture.
	 * @param frame from 1
	 * @throws Failure `not-found` when there is no such frame, `not-acceptable`, `too-costly`, `unavailable`
	 */
	async frame(instance: RetrievableInstance, frame: number, wish: PictureWish): Promise<EncodedPicture> {
		const key = JSON.stringify([instance.objectKey, frame, wish]);
		const kept = this.#cache.get(key);
		if (kept) {
			this.#options.metrics.renderedFrames.inc({ result: 'cached' });
			return kept;
		}
		const bytes = await this.#threads.run(async () => {
			const source = await this.open(instance);
			if (frame > source.frames) throw new Failure('not-found', `the instance has frames 1 to ${source.frames}`);
			return { ...(await source.read(frame - 1)), wish, pixelsMax: this.#options.limits.renderedPixelsMax };
		});
		const picture = { bytes, etag: `"${createHash('sha256').update(bytes).digest('base64url').slice(0, 27)}"` };
		this.#cache.set(key, picture);
		return picture;
	}

	close(): Promise<void> {
		return this.#threads.close();
	}
}
