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
	return undefined;
}

/**
 * Collects a body chunk by chunk; the server's own buffers are only valid during the call, so each chunk is copied.
 * `done` is called once: with the whole body, or with the failure at which reading ended.
 */
export function collectBody(response: HttpResponse, bytesMax: number, done: (body: Uint8Array | Failure) => void): void {
	const chunks: Buffer[] = [];
	let length = 0;
	let ended = false;
	response.onData((chunk, isLast) => {
		if (ended) return;
		length += chunk.byteLength;
		if (length > bytesMax) {
			ended = true;
			done(tooLarge(bytesMax));
			return;
		}
		const copy = Buffer.allocUnsafe(chunk.byteLength);
		copy.set(new Uint8Array(chunk));
		if (isLast) {
			ended = true;
			done(chunks.length === 0 ? copy : Buffer.concat([...chunks, copy], length));
		} else {
			chunks.push(copy);
		}
	});
}

export function tooLarge(bytesMax: number): Failure {
	return new Failure('too-large', `the body is longer than ${bytesMax} bytes`);
}
