import type { DecodeAnswer, DecodeRequest } from './decoding.ts';
import { NotShown, type PixelShape } from './pixels.ts';

interface Waiting {
	resolve(decoded: { bytes: ArrayBuffer; shape: PixelShape }): void;
	reject(error: Error): void;
}

/** Decodes compressed frames in a worker, which is loaded when it is first needed. */
export class Decoder {
	readonly #waiting = new Map<number, Waiting>();
	#worker: Worker | undefined;
	#id = 0;

	/** @throws NotShown */
	decode(bytes: ArrayBuffer, transferSyntaxUid: string, shape: PixelShape): Promise<{ bytes: ArrayBuffer; shape: PixelShape }> {
		const worker = this.#started();
		const id = ++this.#id;
		const { rows, columns, samples, bits_allocated, bits_stored, signed, planar, photometric, big_endian } = shape;
		const sent = { rows, columns, samples, bits_allocated, bits_stored, signed, planar, photometric, big_endian };
		const request: DecodeRequest = { id, bytes, transferSyntaxUid, shape: sent };
		return new Promise((resolve, reject) => {
			this.#waiting.set(id, { resolve, reject });
			worker.postMessage(request, [bytes]);
		});
	}

	#started(): Worker {
		if (this.#worker !== undefined) return this.#worker;
		const address = document.querySelector<HTMLLinkElement>('link[rel="image-decoder"]')?.href;
		if (address === undefined) throw new NotShown('This page has no decoder for compressed images.');
		const worker = new Worker(address, { type: 'module' });
		worker.onmessage = ({ data }: MessageEvent<DecodeAnswer>) => {
			const waiting = this.#waiting.get(data.id);
			this.#waiting.delete(data.id);
			if ('trouble' in data) waiting?.reject(new NotShown(data.trouble));
			else waiting?.resolve(data);
		};
		worker.onerror = () => this.#fail('The decoder of compressed images could not be loaded.');
		this.#worker = worker;
		return worker;
	}

	/** A worker that failed is started anew for the next frame. */
	#fail(text: string): void {
		this.#worker?.terminate();
		this.#worker = undefined;
		const waiting = [...this.#waiting.values()];
		this.#waiting.clear();
		for (const { reject } of waiting) reject(new NotShown(text));
	}

	close(): void {
		this.#fail('The images were closed.');
	}
}
