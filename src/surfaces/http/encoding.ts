import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { promisify } from 'node:util';
import { brotliCompress, constants, createBrotliCompress, createGzip, gzip } from 'node:zlib';
import { acceptedRanges } from './media-type.ts';
import type { HttpAnswer } from './message.ts';

type Coding = 'br' | 'gzip';

/** Below this compressing costs more than it saves. */
const compressedBytesMin = 1024;
/** As fast as gzip on FHIR JSON, and smaller; from 5 on it takes twice the time. */
const brotliQuality = 4;

/** Not a stream of events, each of which is wanted at once. */
const compressible =
	/^(?:text\/(?!event-stream)|application\/(?:json|ndjson|xml|openmetrics-text|javascript)\b|[^;]+\+(?:json|ndjson|xml)\b)/;

/**
 * The coding of an answer by Accept-Encoding and its weights (RFC 9110 §12.5.3); undefined is none. Of codings that are
 * wanted alike, the smaller result wins.
 */
export function preferredCoding(header: string | undefined): Coding | undefined {
	if (header === undefined) return undefined;
	const weights = new Map<string, number>();
	for (const { name, weight } of acceptedRanges(header)) weights.set(name === 'x-gzip' ? 'gzip' : name, weight);
	const any = weights.get('*') ?? 0;
	const br = weights.get('br') ?? any;
	const gzipped = weights.get('gzip') ?? any;
	const best = Math.max(br, gzipped);
	if (best === 0 || best < (weights.get('identity') ?? 0)) return undefined;
	return br === best ? 'br' : 'gzip';
}

/**
 * The answer as it is sent: compressed where the caller wants that and it pays. zlib's threads do it, not the event loop.
 * An answer that says how it is coded already stays as it is.
 */
export async function encoded(answer: HttpAnswer, acceptEncoding: string | undefined): Promise<HttpAnswer> {
	const { body, headers } = answer;
	if (body === undefined || headers?.['Content-Encoding'] !== undefined || !compressible.test(headers?.['Content-Type'] ?? ''))
		return answer;
	if (isWhole(body) && body.length < compressedBytesMin) return answer;
	const coding = preferredCoding(acceptEncoding);
	const varying: Record<string, string> = {
		...headers,
		Vary: headers?.['Vary'] === undefined ? 'Accept-Encoding' : `${headers['Vary']}, Accept-Encoding`,
	};
	if (coding === undefined) return { ...answer, headers: varying };
	const tag = varying['ETag'];
	// The coded bytes are others: only a weak tag holds for both (RFC 9110 §8.8.1).
	if (tag?.startsWith('"')) varying['ETag'] = `W/${tag}`;
	return {
		...answer,
		headers: { ...varying, 'Content-Encoding': coding },
		body: isWhole(body) ? await compress(coding, body) : compressing(coding, body),
	};
}

export function isWhole(body: NonNullable<HttpAnswer['body']>): body is string | Uint8Array {
	return typeof body === 'string' || body instanceof Uint8Array;
}

const gzipWhole = promisify(gzip);
const brotliWhole = promisify<string | Uint8Array, object, Buffer>(brotliCompress);

function compress(coding: Coding, body: string | Uint8Array): Promise<Buffer> {
	return coding === 'gzip' ? gzipWhole(body) : brotliWhole(body, brotliOptions(Buffer.byteLength(body)));
}

/** Ends its source early when it is left early. */
async function* compressing(coding: Coding, body: AsyncIterable<Uint8Array>): AsyncIterable<Uint8Array> {
	const stream = coding === 'gzip' ? createGzip() : createBrotliCompress(brotliOptions(0));
	const fed = pipeline(Readable.from(body, { objectMode: false }), stream);
	// The failure reaches the reader through the stream; this promise says it a second time.
	fed.catch(() => undefined);
	yield* stream;
}

function brotliOptions(bytes: number) {
	return { params: { [constants.BROTLI_PARAM_QUALITY]: brotliQuality, [constants.BROTLI_PARAM_SIZE_HINT]: bytes } };
}
