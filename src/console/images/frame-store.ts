import { ApiFailure, readBytes } from '../api.ts';
import { describeConflictImage, describeImage, type ImageDescription, instancePath } from './calls.ts';
import { Decoder } from './decoder.ts';
import { codecs, uncompressed } from './decoding.ts';
import { colouredBy, NotShown, type Pixels, pixelsOf } from './pixels.ts';

/** An image whose frames can be read. */
export interface ImageAddress {
	/** Unique among the images of a store. */
	key: string;
	describe(): Promise<ImageDescription>;
	/** The path of a frame below that of the API, counted from 1. */
	framePath(frame: number): string;
}

export function instanceImage(site: string, instance: string): ImageAddress {
	return {
		key: instance,
		describe: () => describeImage({ site, instance }),
		framePath: (frame) => instancePath(site, instance, `frames/${frame}`),
	};
}

export function conflictImage(id: string, side: 'stored' | 'received'): ImageAddress {
	return {
		key: `${id} ${side}`,
		describe: () => describeConflictImage({ id, side }),
		framePath: (frame) => `/conflicts/${encodeURIComponent(id)}/${side}/frames/${frame}`,
	};
}

export interface Frame {
	description: ImageDescription;
	values: ImageDescription['values'][number];
	pixels: Pixels;
}

/** Decoded frames are forgotten from here on, those that were not seen for longest first. */
const bytesMax = 256 * 1024 * 1024;
/** Descriptions are small, but for images of thousands of frames. */
const describedMax = 500;

/** Reads frames, decodes them, and keeps as many as memory allows. */
export class FrameStore {
	readonly #frames = new Map<string, { frame: Promise<Frame>; bytes: number }>();
	readonly #described = new Map<string, Promise<ImageDescription>>();
	readonly #decoder = new Decoder();
	readonly #closing = new AbortController();
	#bytes = 0;

	describe(image: ImageAddress): Promise<ImageDescription> {
		return kept(this.#described, image.key, describedMax, () => image.describe());
	}

	/** @throws ApiFailure, NotShown */
	frame(image: ImageAddress, number: number): Promise<Frame> {
		const key = `${image.key} ${number}`;
		const known = this.#frames.get(key);
		if (known !== undefined) {
			this.#frames.delete(key);
			this.#frames.set(key, known);
			return known.frame;
		}
		const entry = { frame: this.#read(image, number), bytes: 0 };
		this.#frames.set(key, entry);
		entry.frame.then(
			({ pixels }) => {
				if (this.#frames.get(key) !== entry) return;
				entry.bytes = pixels.samples.byteLength;
				this.#bytes += entry.bytes;
				this.#forget();
			},
			// Whoever asked is told; the next time it is tried again.
			() => this.#frames.delete(key),
		);
		return entry.frame;
	}

	async #read(image: ImageAddress, number: number): Promise<Frame> {
		const description = await this.describe(image);
		const { transfer_syntax_uid: syntax, values, palette } = description;
		const isPlain = uncompressed.has(syntax);
		if (!isPlain && codecs[syntax] === undefined)
			throw new NotShown('The console has no decoder for the way in which this image is compressed.');
		const bytes = await readBytes(image.framePath(number), this.#closing.signal);
		const decoded = isPlain ? { bytes, shape: description } : await this.#decoder.decode(bytes, syntax, description);
		const plain = pixelsOf(decoded.shape, decoded.bytes);
		const pixels = palette !== null && description.photometric === 'PALETTE COLOR' ? colouredBy(palette, plain.samples) : plain;
		const own = values[number - 1] ?? values[0];
		if (own === undefined) throw new ApiFailure(0, 'The service does not say how the image is to be shown.');
		return { description, values: own, pixels };
	}

	#forget(): void {
		for (const [key, { bytes }] of this.#frames) {
			if (this.#bytes <= bytesMax || this.#frames.size <= 1) return;
			this.#frames.delete(key);
			this.#bytes -= bytes;
		}
	}

	/** Breaks off what is being read, so that no frame comes to the decoder any more and starts its worker anew. */
	close(): void {
		this.#closing.abort();
		this.#frames.clear();
		this.#decoder.close();
	}
}

/** Takes a value from the map, or puts it there; a failure is not kept. */
function kept<T>(map: Map<string, Promise<T>>, key: string, most: number, make: () => Promise<T>): Promise<T> {
	const known = map.get(key);
	if (known !== undefined) return known;
	const made = make();
	map.set(key, made);
	made.catch(() => map.delete(key));
	const [oldest] = map.keys();
	if (map.size > most && oldest !== undefined) map.delete(oldest);
	return made;
}
