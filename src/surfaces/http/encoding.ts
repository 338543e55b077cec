import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { promisify } from 'node:util';
import { brotliCompress, constants, createBrotliCompress, createGzip, gzip } from 'node:zlib';
import { acceptedRanges } from './media-type.ts';
import type { HttpAnswer } from './message.ts';

type Coding = 'br' | 'gzip';

/** Compressing fewer bytes costs more than it saves. */
const compressedBytesMin = 1024;
/** This level is as fast as gzip on FHIR JSON, and smaller. Level 5 and above take twice the time. */
const brotliQuality = 4;

/** Event streams are left out, because each event must be sent at once. */
const compressible =
	/^(?:text\/(?!event-stream)|application\/(?:json|ndjson|xml|openmetrics-text|javascript)\b|[^;]+\+(?:json|ndjson|xml)\b)/;

/**
 * Chooses the coding of an answer by Accept-Encoding and its weights (RFC 9110 §12.5.3); undefined means none. Of codings with equal
 * weights the one with the smaller result wins.
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
 * Compresses the answer if the caller accepts that and it pays. The threads of zlib do the work, not the event loop.
 * An answer that already has a content coding stays as it is.
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
	// The coded bytes differ, so only a weak tag is valid for both (RFC 9110 §8.8.1).
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

/** Ends its source early when its own reader stops early. */
async function* compressing(coding: Coding, body: AsyncIterable<Uint8Array>): AsyncIterable<Uint8Array> {
	const stream = coding === 'gzip' ? createGzip() : createBrotliCompress(brotliOptions(0));
	const fed = pipeline(Readable.from(body, { objectMode: false }), stream);
	// The stream passes the failure to the reader; this promise would only repeat it.
	fed.catch(() => undefined);
	yield* stream;
}

function brotliOptions(bytes: number) {
	return { params: { [constants.BROTLI_PARAM_QUALITY]: brotliQuality, [constants.BROTLI_PARAM_SIZE_HINT]: bytes } };
}
