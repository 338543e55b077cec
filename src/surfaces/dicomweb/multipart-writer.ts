import { newId } from '#core/id.ts';
import type { HttpAnswer } from '../http/message.ts';
import type { Packing } from './negotiation.ts';

/** One part of an answer: its type, its URL and its bytes, which are read when the part is sent. */
export interface AnswerPart {
	/** Undefined for what is no DICOM encoding. */
	transferSyntaxUid: string | undefined;
	location: string;
	bytes: AsyncIterable<Uint8Array>;
}

/** Answers parts as multipart/related (PS3.18 §8.6.1.2), or a single part without multipart. */
export function partsAnswer({ isMultipart, mediaType }: Packing, parts: AsyncIterable<AnswerPart>): HttpAnswer {
	if (!isMultipart) return { status: 200, headers: { 'Content-Type': mediaType }, body: bytesOf(parts) };
	const boundary = newId();
	const headers = { 'Content-Type': `multipart/related; type="${mediaType}"; boundary="${boundary}"` };
	return { status: 200, headers, body: multipart(parts, mediaType, boundary) };
}

async function* bytesOf(parts: AsyncIterable<AnswerPart>): AsyncGenerator<Uint8Array> {
	for await (const { bytes } of parts) yield* bytes;
}

async function* multipart(parts: AsyncIterable<AnswerPart>, mediaType: string, boundary: string): AsyncGenerator<Uint8Array> {
	for await (const { transferSyntaxUid, location, bytes } of parts) {
		const type = `Content-Type: ${mediaType}${transferSyntaxUid === undefined ? '' : `; transfer-syntax=${transferSyntaxUid}`}`;
		yield Buffer.from(`--${boundary}\r\n${type}\r\nContent-Location: ${location}\r\n\r\n`, 'latin1');
		yield* bytes;
		yield lineEnd;
	}
	yield Buffer.from(`--${boundary}--\r\n`, 'latin1');
}

const lineEnd = Buffer.from('\r\n');
