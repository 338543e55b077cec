import { Failure } from '#core/failure.ts';
import type { HttpResponse } from './load.ts';

/** Returns the reason why a request's headers do not delimit its body unambiguously. The connection is then closed (RFC 9112 §6.3). */
export function framingFault(headers: readonly (readonly [string, string])[]): Failure | undefined {
	const lengths = headers.filter(([name]) => name === 'content-length');
	if (lengths.length > 1) return new Failure('invalid', 'Content-Length is given more than once');
	const length = lengths[0]?.[1];
	if (length !== undefined && !/^\d{1,15}$/.test(length)) return new Failure('invalid', 'Content-Length is not a number');
	const encodings = headers.filter(([name]) => name === 'transfer-encoding');
	if (encodings.length > 0 && length !== undefined) return new Failure('invalid', 'Content-Length and Transfer-Encoding are both given');
	if (encodings.length > 1) return new Failure('invalid', 'Transfer-Encoding is given more than once');
	const encoding = encodings[0]?.[1];
	if (encoding !== undefined && encoding.toLowerCase() !== 'chunked') return new Failure('invalid', 'Transfer-Encoding is not chunked');
	return undefined;
}

export interface BodyBounds {
	/** The limit of this body. */
	bytesMax: number;
	/** Counts bytes against the total that all bodies may hold. Returns false when that is reached. */
	take(bytes: number): boolean;
}

/**
 * Collects a body chunk by chunk. The server's buffers are valid only during the call, so each chunk is copied.
 * `done` is called once, with the whole body or with the failure that ended the reading.
 */
export function collectBody(response: HttpResponse, { bytesMax, take }: BodyBounds, done: (body: Uint8Array | Failure) => void): void {
	const chunks: Buffer[] = [];
	let length = 0;
	let ended = false;
	const end = (body: Uint8Array | Failure) => {
		ended = true;
		done(body);
	};
	response.onData((chunk, isLast) => {
		if (ended) return;
		length += chunk.byteLength;
		if (length > bytesMax) return end(tooLarge(bytesMax));
		if (!take(chunk.byteLength)) return end(tooMuch());
		const copy = Buffer.allocUnsafe(chunk.byteLength);
		copy.set(new Uint8Array(chunk));
		if (isLast) end(chunks.length === 0 ? copy : Buffer.concat([...chunks, copy], length));
		else chunks.push(copy);
	});
}

/** Bytes of a streamed body that may wait for its reader; above this the sender is held back. HTTP_WAITING_BYTES_MAX bounds all bodies. */
const heldBytesMax = 1024 * 1024;

/**
 * A body that its handler reads while it arrives. No more than `heldBytesMax` bytes and the server's own buffer are held between the
 * sender and the reader.
 */
export class StreamedBody implements AsyncIterable<Uint8Array> {
	readonly #response: HttpResponse;
	readonly #bounds: BodyBounds & { give(bytes: number): void };
	#chunks: Uint8Array[] = [];
	#heldBytes = 0;
	#length = 0;
	#isPaused = false;
	#isWhole = false;
	#fault: Failure | undefined;
	#wake: (() => void) | undefined;

	constructor(response: HttpResponse, bounds: BodyBounds & { give(bytes: number): void }) {
		this.#response = response;
		this.#bounds = bounds;
		response.onData((chunk, isLast) => this.#receive(chunk, isLast));
	}

	/** Ends the body, because the sender has gone. */
	abort(): void {
		this.#end(new Failure('invalid', 'the sender broke off before the end of the body'));
	}

	/** Ends the reading. Returns whether the sender may still be sending. */
	close(): boolean {
		this.#end(new Failure('internal', 'the body was read after its answer'));
		return !this.#isWhole;
	}

	async *[Symbol.asyncIterator](): AsyncIterator<Uint8Array> {
		for (;;) {
			if (this.#fault) throw this.#fault;
			const chunk = this.#chunks.shift();
			if (chunk !== undefined) {
				this.#handOver(chunk);
				yield chunk;
			} else if (this.#isWhole) {
				return;
			} else {
				await new Promise<void>((resolve) => {
					this.#wake = resolve;
				});
			}
		}
	}

	#receive(chunk: ArrayBuffer, isLast: boolean): void {
		if (this.#fault) return;
		const { bytesMax, take } = this.#bounds;
		this.#length += chunk.byteLength;
		if (this.#length > bytesMax || !take(chunk.byteLength)) {
			this.#end(this.#length > bytesMax ? tooLarge(bytesMax) : tooMuch());
			return;
		}
		this.#heldBytes += chunk.byteLength;
		// The server's buffer is valid only during the call.
		if (chunk.byteLength > 0) this.#chunks.push(new Uint8Array(chunk.slice(0)));
		this.#isWhole = isLast;
		if (!isLast && !this.#isPaused && this.#heldBytes >= heldBytesMax) {
			this.#isPaused = true;
			this.#response.pause();
		}
		this.#wake?.();
	}

	#handOver(chunk: Uint8Array): void {
		this.#bounds.give(chunk.length);
		this.#heldBytes -= chunk.length;
		if (!this.#isPaused || this.#heldBytes >= heldBytesMax) return;
		this.#isPaused = false;
		this.#response.resume();
	}

	#end(fault: Failure): void {
		this.#fault ??= fault;
		this.#bounds.give(this.#heldBytes);
		this.#heldBytes = 0;
		this.#chunks = [];
		this.#wake?.();
	}
}

export function tooMuch(): Failure {
	return new Failure('unavailable', 'too many requests are in progress', { retryAfterSeconds: 1 });
}

export function tooLarge(bytesMax: number): Failure {
	return new Failure('too-large', `the body is longer than ${bytesMax} bytes`);
}
