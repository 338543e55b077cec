/** A picture with the tag by which a client asks whether it is still the same (RFC 9110 §8.8.3). */
export interface EncodedPicture {
	bytes: Uint8Array;
	etag: string;
}

/** Keeps pictures in memory up to a number of bytes; the one that was not asked for longest goes first. */
export class PictureCache {
	readonly #bytesMax: number;
	readonly #pictures = new Map<string, EncodedPicture>();
	#bytes = 0;

	constructor(bytesMax: number) {
		this.#bytesMax = bytesMax;
	}

	get(key: string): EncodedPicture | undefined {
		const picture = this.#pictures.get(key);
		if (picture === undefined) return undefined;
		this.#pictures.delete(key);
		this.#pictures.set(key, picture);
		return picture;
	}

	set(key: string, picture: EncodedPicture): void {
		if (picture.bytes.length > this.#bytesMax) return;
		this.#drop(key);
		this.#pictures.set(key, picture);
		this.#bytes += picture.bytes.length;
		for (const oldest of this.#pictures.keys()) {
			if (this.#bytes <= this.#bytesMax) return;
			this.#drop(oldest);
		}
	}

	#drop(key: string): void {
		this.#bytes -= this.#pictures.get(key)?.bytes.length ?? 0;
		this.#pictures.delete(key);
	}
}
