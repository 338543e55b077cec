import { Failure } from '#core/failure.ts';
import { BodyPace } from './body-pace.ts';
import { Discard, type Remainder } from './discard.ts';
import type { HttpResponse } from './load.ts';
import type { Stay } from './room.ts';

/** A sender of a body that sends less than this within HTTP_BODY_STALL_MS_MAX is answered 408. */
const paceBytes = 65_536;

export interface BodyBounds {
	/** The limit of this body. */
	bytesMax: number;
	/** The time in which a part of the body must come. */
	stallMsMax: number;
	/** True when nothing is known of the body before its first chunk. */
	isChunked: boolean;
	/** How much of a refused body is read, so that its sender gets the answer. */
	discardBytesMax: number;
	/** Counts the bytes that wait. */
	stay: Pick<Stay, 'take' | 'give'>;
}

/** A body while it is being collected. */
export interface Collecting {
	/** Ends the collecting, because the sender has gone. */
	abort(): void;
	/** Drops what came and what is to come, unless the body is whole already. */
	refuse(failure: Failure): void;
}

/**
 * Collects a body chunk by chunk. The server's buffers are valid only during the call, so each chunk is copied.
 * `done` is called once, with the whole body or with the failure that ended the reading.
 */
export function collectBody(
	response: HttpResponse,
	{ bytesMax, stallMsMax, isChunked, discardBytesMax, stay }: BodyBounds,
	done: (body: Uint8Array | Failure, rest: Remainder) => void,
): Collecting {
	let chunks: Buffer[] = [];
	let length = 0;
	let isOver = false;
	let pace: BodyPace | undefined;
	let discard: Discard | undefined;
	const end = (body: Uint8Array | Failure, rest: Remainder) => {
		isOver = true;
		pace?.end();
		done(body, rest);
	};
	const refuse = (failure: Failure, isLast: boolean) => {
		if (isLast) return end(failure, 'sent');
		pace?.end();
		stay.give(length);
		chunks = [];
		discard = new Discard(response, discardBytesMax, (rest) => end(failure, rest));
	};
	const expectMore = (bytes: number) => {
		pace ??= new BodyPace(response, { bytes: paceBytes, ms: stallMsMax }, () => end(tooSlow(), 'paused'));
		pace.arrived(bytes);
	};
	response.onData((chunk, isLast) => {
		if (isOver) return;
		if (discard) return discard.receive(chunk.byteLength, isLast);
		if (length + chunk.byteLength > bytesMax) return refuse(tooLarge(bytesMax), isLast);
		const excess = stay.take(chunk.byteLength);
		if (excess) return refuse(excess, isLast);
		length += chunk.byteLength;
		const copy = Buffer.allocUnsafe(chunk.byteLength);
		copy.set(new Uint8Array(chunk));
		if (isLast) return end(chunks.length === 0 ? copy : Buffer.concat([...chunks, copy], length), 'sent');
		chunks.push(copy);
		expectMore(chunk.byteLength);
	});
	if (isChunked) expectMore(0);
	return {
		abort: () => {
			isOver = true;
			pace?.end();
			discard?.abort();
		},
		refuse: (failure) => {
			if (!isOver && !discard) refuse(failure, false);
		},
	};
}

/** Bytes of a streamed body that may wait for its reader; above this the sender is held back. HTTP_WAITING_BYTES_MAX bounds all bodies. */
const heldBytesMax = 1024 * 1024;

/**
 * A body that its handler reads while it arrives. No more than `heldBytesMax` bytes and the server's own buffer are held between the
 * sender and the reader.
 */
export class StreamedBody implements AsyncIterable<Uint8Array> {
	readonly #response: HttpResponse;
	readonly #bounds: BodyBounds;
	#chunks: Uint8Array[] = [];
	#heldBytes = 0;
	#length = 0;
	#isPaused = false;
	#isWhole = false;
	#isGone = false;
	#fault: Failure | undefined;
	#pace: BodyPace | undefined;
	#discard: Discard | undefined;
	#wake: (() => void) | undefined;
	#settle: ((rest: Remainder) => void) | undefined;

	constructor(response: HttpResponse, bounds: BodyBounds) {
		this.#response = response;
		this.#bounds = bounds;
		response.onData((chunk, isLast) => this.#receive(chunk, isLast));
		if (bounds.isChunked) this.#expectMore(0);
	}

	/** Ends the body, because the sender has gone. */
	abort(): void {
		this.#isGone = true;
		this.#end(new Failure('invalid', 'the sender broke off before the end of the body'));
		this.#discard?.abort();
		this.#settle?.('paused');
	}

	/** Ends the reading, and drops what the sender still sends. */
	async close(): Promise<Remainder> {
		this.#end(new Failure('internal', 'the body was read after its answer'));
		if (this.#isWhole) return 'sent';
		if (this.#isGone) return 'paused';
		if (this.#isPaused) this.#response.resume();
		return new Promise((resolve) => {
			this.#settle = resolve;
			this.#discard = new Discard(this.#response, this.#bounds.discardBytesMax, resolve);
		});
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
		this.#isWhole ||= isLast;
		if (this.#discard) {
			this.#discard.receive(chunk.byteLength, isLast);
			return;
		}
		if (this.#fault) return;
		const { bytesMax, stay } = this.#bounds;
		this.#length += chunk.byteLength;
		const excess = this.#length > bytesMax ? tooLarge(bytesMax) : stay.take(chunk.byteLength);
		if (excess) {
			this.#end(excess);
			return;
		}
		this.#heldBytes += chunk.byteLength;
		// The server's buffer is valid only during the call.
		if (chunk.byteLength > 0) this.#chunks.push(new Uint8Array(chunk.slice(0)));
		if (isLast) this.#pace?.end();
		else this.#expectMore(chunk.byteLength);
		this.#wake?.();
	}

	#expectMore(bytes: number): void {
		const pace = { bytes: paceBytes, ms: this.#bounds.stallMsMax };
		this.#pace ??= new BodyPace(this.#response, pace, () => this.#end(tooSlow()));
		this.#pace.arrived(bytes);
		if (this.#isPaused || this.#heldBytes < heldBytesMax) return;
		this.#isPaused = true;
		this.#pace.holdBack(true);
		this.#response.pause();
	}

	#handOver(chunk: Uint8Array): void {
		this.#bounds.stay.give(chunk.length);
		this.#heldBytes -= chunk.length;
		if (!this.#isPaused || this.#heldBytes >= heldBytesMax) return;
		this.#isPaused = false;
		this.#pace?.holdBack(false);
		this.#response.resume();
	}

	#end(fault: Failure): void {
		this.#fault ??= fault;
		this.#pace?.end();
		this.#bounds.stay.give(this.#heldBytes);
		this.#heldBytes = 0;
		this.#chunks = [];
		this.#wake?.();
	}
}

export function tooLarge(bytesMax: number): Failure {
	return new Failure('too-large', `the body is longer than ${bytesMax} bytes`);
}

function tooSlow(): Failure {
	return new Failure('timed-out', 'the body did not arrive in time');
}
