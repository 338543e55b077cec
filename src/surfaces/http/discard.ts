import { BodyPace } from './body-pace.ts';
import type { HttpResponse } from './load.ts';

/** How the rest of a body ended: `sent` whole, with a `pause` of its sender, who may wait for the answer, or `endless`. */
export type Remainder = 'sent' | 'paused' | 'endless';

/** A sender of whom nothing comes for so long waits for its answer. */
const pace = { bytes: 1, ms: 500 };
/** Nobody sends byte by byte what is refused, except to keep the connection. */
const discardMsMax = 30_000;

/**
 * Drops what is left of a refused body. A connection that ends while its sender still sends is reset, and the answer is lost with it
 * (RFC 9112 §9.6). So the answer waits until the body has ended, its sender pauses, or too much has come.
 */
export class Discard {
	readonly #bytesMax: number;
	readonly #done: (rest: Remainder) => void;
	readonly #pace: BodyPace;
	readonly #sinceMs = performance.now();
	#bytes = 0;

	/** @param done is called once */
	constructor(response: HttpResponse, bytesMax: number, done: (rest: Remainder) => void) {
		this.#bytesMax = bytesMax;
		this.#done = done;
		this.#pace = new BodyPace(response, pace, () => done('paused'));
	}

	receive(bytes: number, isLast: boolean): void {
		this.#bytes += bytes;
		this.#pace.arrived(bytes);
		const isEndless = this.#bytes > this.#bytesMax || performance.now() - this.#sinceMs > discardMsMax;
		if (!isLast && !isEndless) return;
		this.abort();
		this.#done(isLast ? 'sent' : 'endless');
	}

	abort(): void {
		this.#pace.end();
	}
}

/** Drops a body of which nothing is wanted. Must be called while the library hands over the head. */
export function discardBody(response: HttpResponse, bytesMax: number, done: (rest: Remainder) => void): Discard {
	let isOver = false;
	const discard = new Discard(response, bytesMax, (rest) => {
		isOver = true;
		done(rest);
	});
	response.onData((chunk, isLast) => {
		if (!isOver) discard.receive(chunk.byteLength, isLast);
	});
	return discard;
}
