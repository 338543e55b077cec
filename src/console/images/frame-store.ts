import { ApiFailure, readBytes } from '../api.ts';
import { describeConflictImage, describeImage, type ImageDescription, instancePath } from './calls.ts';
import { Decoder } from './decoder.ts';
import { codecs, uncompressed } from './decoding.ts';
import { pixelsOfPicture } from './picture.ts';
import { colouredBy, NotShown, type Pixels, pixelsOf } from './pixels.ts';

/** An image whose frames can be read. */
export interface ImageAddress {
	/** Unique among the images of a store. */
	key: string;
	describe(): Promise<ImageDescription>;
	/** The path of a frame below that of the API, counted from 1. */
	framePath(frame: number): string;
	/** The path of the picture that the service draws of a frame; undefined where it draws none. */
	picturePath?(frame: number): string;
}

/** The place of an instance in the record. */
export interface InstancePlace {
	site: string;
	study: string;
	series: string;
	instance: string;
}

export function instanceImage({ site, study, series, instance }: InstancePlace): ImageAddress {
	const place = ['sites', site, 'studies', study, 'series', series, 'instances', instance].map(encodeURIComponent).join('/');
	return {
		key: instance,
		describe: () => describeImage({ site, instance }),
		framePath: (frame) => instancePath(site, instance, `frames/${frame}`),
		picturePath: (frame) => `/${place}/frames/${frame}/rendered`,
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
	/** True if the service drew the picture, with its own window, because the browser cannot decode the frame. */
	isDrawnByService: boolean;
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
		const values = description.values[number - 1] ?? description.values[0];
		if (values === undefined) throw new ApiFailure(0, 'The service does not say how the image is to be shown.');
		try {
			return { description, values, pixels: await this.#decoded(image, number, description), isDrawnByService: false };
		} catch (error) {
			if (!(error instanceof NotShown) || image.picturePath === undefined || this.#closing.signal.aborted) throw error;
			return await this.#drawnByService(image.picturePath(number), { description, values }, error);
		}
	}

	/** @throws ApiFailure, NotShown */
	async #decoded(image: ImageAddress, number: number, description: ImageDescription): Promise<Pixels> {
		const { transfer_syntax_uid: syntax, palette } = description;
		const isPlain = uncompressed.has(syntax);
		if (!isPlain && codecs[syntax] === undefined)
			throw new NotShown('The console has no decoder for the way in which this image is compressed.');
		const bytes = await readBytes(image.framePath(number), this.#closing.signal);
		const decoded = isPlain ? { bytes, shape: description } : await this.#decoder.decode(bytes, syntax, description);
		const plain = pixelsOf(decoded.shape, decoded.bytes);
		if (description.photometric !== 'PALETTE COLOR') return plain;
		if (palette === null) throw new NotShown('The image has no palette that the console can read.');
		return colouredBy(palette, plain.samples);
	}

	/** @throws NotShown with both reasons if the service cannot draw the frame either */
	async #drawnByService(path: string, of: Pick<Frame, 'description' | 'values'>, reason: NotShown): Promise<Frame> {
		try {
			const bytes = await readBytes(path, this.#closing.signal, 'image/png');
			const { rows, columns, pixels } = await pixelsOfPicture(bytes);
			// The service has applied tables and turned the greys already.
			const description = { ...of.description, rows, columns, photometric: 'RGB', tables: false };
			return { ...of, description, pixels, isDrawnByService: true };
		} catch (error) {
			if (!(error instanceof ApiFailure)) throw error;
			throw new NotShown(`${reason.message} ${error.message}`);
		}
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
