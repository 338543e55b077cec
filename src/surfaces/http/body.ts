import { Failure } from '#core/failure.ts';
import type { HttpResponse } from './load.ts';

/** Why a request's headers do not delimit its body beyond doubt; the connection is closed then (RFC 9112 §6.3). */
export function framingFault(headers: readonly (readonly [string, string])[]): Failure | undefined {
	const lengths = headers.filter(([name]) => name === 'content-length');
	if (lengths.length > 1) return new Failure('invalid', 'Content-Length stands more than once');
	const length = lengths[0]?.[1];
	if (length !== undefined && !/^\d{1,15}$/.test(length)) return new Failure('invalid', 'Content-Length is not a number');
	const encodings = headers.filter(([name]) => name === 'transfer-encoding');
	if (encodings.length > 0 && length !== undefined) return new Failure('invalid', 'Content-Length and Transfer-Encoding stand together');
	if (encodings.length > 1) return new Failure('invalid', 'Transfer-Encoding stands more than once');
	const encoding = encodings[0]?.[1];
	if (encoding !== undefined && encoding.toLowerCase() !== 'chunked') return new Failure('invalid', 'Transfer-Encoding is not chunked');
	return undefined;
}

export interface BodyBounds {
	/** Of this body. */
	bytesMax: number;
	/** Counts bytes against what all bodies may hold together; false when they hold that already. */
	take(bytes: number): boolean;
}

/**
 * Collects a body chunk by chunk; the server's own buffers are only valid during the call, so each chunk is copied.
 * `done` is called once: with the whole body, or with the failure at which reading ended.
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

export function tooMuch(): Failure {
	return new Failure('unavailable', 'too many requests are under way', { retryAfterSeconds: 1 });
}

export function tooLarge(bytesMax: number): Failure {
	return new Failure('too-large', `the body is longer than ${bytesMax} bytes`);
}
