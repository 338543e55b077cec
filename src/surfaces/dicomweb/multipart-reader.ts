import { Failure } from '#core/failure.ts';

/** The parts of a multipart body, in order. The data of a part comes in pieces that the receiver may keep. */
export type MultipartEvent = { kind: 'part'; headers: ReadonlyMap<string, string> } | { kind: 'data'; bytes: Buffer } | { kind: 'end' };

/** Headers of a part are some hundred bytes. */
const headerBytesMax = 16_384;
/** Padding behind a boundary is rare (RFC 2046 §5.1.1). */
const paddingBytesMax = 256;
const lineEnd = Buffer.from('\r\n');
const blankLine = Buffer.from('\r\n\r\n');
const nothing = Buffer.alloc(0);

/** RFC 2046 §5.1.1 allows 70 characters. Orthanc sends 73, and more of them do no harm. */
export const boundaryCharactersMax = 200;

/** Tells why a text is no boundary; undefined: it is one (RFC 2046 §5.1.1). */
export function boundaryFault(text: string): string | undefined {
	if (text === '') return 'Content-Type has no boundary';
	if (text.length > boundaryCharactersMax) return `the boundary in Content-Type is longer than ${boundaryCharactersMax} characters`;
	if (/[^0-9A-Za-z'()+_,\-./:=? ]/.test(text)) return 'the boundary in Content-Type has a character that RFC 2046 does not allow';
	return text.endsWith(' ') ? 'the boundary in Content-Type ends with a blank' : undefined;
}

/** Parses a multipart body while it arrives (RFC 2046 §5.1). It buffers no more than a delimiter or the headers of one part. */
export class MultipartParser {
	readonly #delimiter: Buffer;
	/** Begins with a line end, because the first delimiter may stand at the very beginning. */
	#rest: Buffer = lineEnd;
	#state: 'preamble' | 'boundary' | 'headers' | 'content' | 'epilogue' = 'preamble';

	constructor(boundary: string) {
		this.#delimiter = Buffer.from(`\r\n--${boundary}`, 'latin1');
	}

	/** @throws Failure `invalid` */
	*push(chunk: Uint8Array): Generator<MultipartEvent> {
		const bytes = Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength);
		const buffer = this.#rest.length === 0 ? bytes : Buffer.concat([this.#rest, bytes]);
		let at = 0;
		for (;;) {
			const next: number | undefined = yield* this.#step(buffer, at);
			if (next === undefined) break;
			at = next;
		}
		this.#rest = this.#state === 'epilogue' ? nothing : buffer.subarray(at);
	}

	/** Ends the body. @throws Failure `invalid` when the closing delimiter is missing */
	end(): void {
		if (this.#state !== 'epilogue') throw new Failure('invalid', 'the multipart body ends before its closing boundary');
	}

	/** Returns the position at which the next step begins; undefined when more bytes are needed. */
	*#step(buffer: Buffer, at: number): Generator<MultipartEvent, number | undefined> {
		switch (this.#state) {
			case 'preamble':
			case 'content':
				return yield* this.#pass(buffer, at);
			case 'boundary':
				return this.#passBoundary(buffer, at);
			case 'headers':
				return yield* this.#readHeaders(buffer, at);
			case 'epilogue':
				return undefined;
		}
	}

	*#pass(buffer: Buffer, at: number): Generator<MultipartEvent, number | undefined> {
		const found = buffer.indexOf(this.#delimiter, at);
		// The end of the buffer may hold the beginning of a delimiter.
		const end = found < 0 ? Math.max(at, buffer.length - this.#delimiter.length + 1) : found;
		if (this.#state === 'content' && end > at) yield { kind: 'data', bytes: buffer.subarray(at, end) };
		if (found < 0) return end > at ? end : undefined;
		if (this.#state === 'content') yield { kind: 'end' };
		this.#state = 'boundary';
		return found + this.#delimiter.length;
	}

	#passBoundary(buffer: Buffer, at: number): number | undefined {
		if (buffer.length - at < 2) return undefined;
		if (buffer.toString('latin1', at, at + 2) === '--') {
			this.#state = 'epilogue';
			return undefined;
		}
		const end = buffer.indexOf(lineEnd, at);
		const padding = buffer.subarray(at, end < 0 ? buffer.length - 1 : end);
		if (padding.length > paddingBytesMax || padding.some((byte) => byte !== 0x20 && byte !== 0x09)) {
			throw new Failure('invalid', 'something else stands behind a boundary of the multipart body');
		}
		if (end < 0) return undefined;
		this.#state = 'headers';
		return end + lineEnd.length;
	}

	*#readHeaders(buffer: Buffer, at: number): Generator<MultipartEvent, number | undefined> {
		const isNone = buffer.length - at >= lineEnd.length && buffer.subarray(at, at + lineEnd.length).equals(lineEnd);
		const end = isNone ? at : buffer.indexOf(blankLine, at);
		if ((end < 0 ? buffer.length : end) - at > headerBytesMax) throw new Failure('invalid', 'the headers of a part are too long');
		// If a part has no content, the line end before it belongs to the delimiter.
		const from = isNone ? end : end + lineEnd.length;
		if (end < 0 || buffer.length - from < this.#delimiter.length) return undefined;
		yield { kind: 'part', headers: parseHeaders(buffer.toString('latin1', at, end)) };
		this.#state = 'content';
		return buffer.subarray(from, from + this.#delimiter.length).equals(this.#delimiter) ? from : from + lineEnd.length;
	}
}

function parseHeaders(text: string): ReadonlyMap<string, string> {
	const headers = new Map<string, string>();
	// A line that begins with a blank continues the previous one (RFC 5322 §2.2.3).
	for (const line of text.replace(/\r\n[ \t]+/g, ' ').split('\r\n')) {
		const end = line.indexOf(':');
		if (line === '') continue;
		if (end <= 0) throw new Failure('invalid', 'a header of a part has no name');
		headers.set(line.slice(0, end).trim().toLowerCase(), line.slice(end + 1).trim());
	}
	return headers;
}

/** Smaller pieces are gathered first, so that a sender of single bytes costs no more than any other. */
const pieceBytesMin = 4096;
/** A buffer size. */
const gatheredBytes = 16_384;

export async function* gathered(body: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
	let buffer: Buffer | undefined;
	let bytes = 0;
	for await (const chunk of body) {
		if (buffer !== undefined && (chunk.length >= pieceBytesMin || bytes + chunk.length > buffer.length)) {
			yield buffer.subarray(0, bytes);
			buffer = undefined;
			bytes = 0;
		}
		if (chunk.length >= pieceBytesMin) {
			yield chunk;
			continue;
		}
		buffer ??= Buffer.allocUnsafe(gatheredBytes);
		buffer.set(chunk, bytes);
		bytes += chunk.length;
	}
	if (buffer !== undefined) yield buffer.subarray(0, bytes);
}
