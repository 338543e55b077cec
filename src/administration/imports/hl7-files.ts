import { createReadStream } from 'node:fs';
import { splitMessages } from '#hl7v2/batch.ts';
import { headerLine } from '#hl7v2/head.ts';

const startOfBlock = 0x0b;
const endOfBlock = 0x1c;
const header = /[\r\n](?=MSH[^A-Za-z0-9\r\n]{5})/g;
/** The bytes by which a line `MSH` is known, but one: with all of them it would have been found. */
const headerBytes = 8;

/** A message of a file, or a stretch of it that is too long for one. */
export interface FileMessage {
	bytes: Buffer;
	isTooLong: boolean;
}

/**
 * Reads the messages of a file one after the other, framed as in MLLP or each beginning with a line `MSH`, with or without the envelopes of
 * batches. Memory holds one message and one read. Of a message that is too long only the beginning is returned, once; its rest is passed over up
 * to the end of its frame, or the next line `MSH`.
 */
export async function* messagesOf(path: string, bytesMax: number): AsyncGenerator<FileMessage> {
	let held: Buffer = Buffer.alloc(0);
	let isFramed: boolean | undefined;
	let isPassingOver = false;
	for await (const chunk of createReadStream(path, { highWaterMark: 1024 * 1024 }) as AsyncIterable<Buffer>) {
		held = held.length === 0 ? chunk : Buffer.concat([held, chunk]);
		isFramed ??= firstByte(held) === undefined ? undefined : firstByte(held) === startOfBlock;
		if (isPassingOver) {
			const next = isFramed ? held.indexOf(endOfBlock) + 1 : firstHeader(held);
			isPassingOver = next === 0;
			// A line `MSH` may have begun with the last bytes.
			held = isPassingOver ? held.subarray(isFramed ? held.length : -headerBytes) : held.subarray(next);
			if (isPassingOver) continue;
		}
		const end = isFramed ? held.lastIndexOf(endOfBlock) + 1 : lastHeader(held);
		if (end > 0) {
			yield* split(held.subarray(0, end), isFramed === true, bytesMax);
			held = held.subarray(end);
		}
		// A message of that length is refused, and not kept.
		if (held.length > bytesMax + chunk.length) {
			yield { bytes: held.subarray(0, 1024), isTooLong: true };
			held = held.subarray(isFramed ? held.length : -headerBytes);
			isPassingOver = true;
		}
	}
	if (!isPassingOver) yield* split(held, isFramed === true, bytesMax);
}

function firstByte(bytes: Buffer): number | undefined {
	return bytes.find((byte) => byte > 0x20 || byte === startOfBlock);
}

/** Returns where the first line `MSH` begins that follows a line; 0 where there is none. */
function firstHeader(bytes: Buffer): number {
	return bytes.toString('latin1').search(new RegExp(header.source)) + 1;
}

/** Returns where the last message begins that the bytes hold; it may go on. */
function lastHeader(bytes: Buffer): number {
	let at = 0;
	for (const match of bytes.toString('latin1').matchAll(header)) at = match.index + 1;
	return at;
}

function* split(bytes: Buffer, isFramed: boolean, bytesMax: number): Generator<FileMessage> {
	for (const piece of isFramed ? frames(bytes) : [bytes]) {
		if (firstByte(piece) === undefined) continue;
		for (const message of splitMessages(piece)) {
			const view = Buffer.from(message.buffer, message.byteOffset, message.byteLength);
			if (isEnvelope(view)) continue;
			yield { bytes: view, isTooLong: view.length > bytesMax };
		}
	}
}

/** Bytes between frames belong to none, as at the MLLP port. */
function* frames(bytes: Buffer): Generator<Buffer> {
	for (let start = bytes.indexOf(startOfBlock); start !== -1; ) {
		const end = bytes.indexOf(endOfBlock, start);
		yield bytes.subarray(start + 1, end === -1 ? bytes.length : end);
		start = end === -1 ? -1 : bytes.indexOf(startOfBlock, end);
	}
}

/** The beginning or the end of a batch whose messages stand in another read. */
function isEnvelope(bytes: Buffer): boolean {
	const text = bytes.toString('latin1', 0, 4096).trim();
	return /^(FHS|BHS|BTS|FTS)[^A-Za-z0-9]/.test(text) && !/[\r\n]MSH/.test(text);
}

/** MSH-7, as far as it orders messages; empty where it is not stated. */
export function statedTime(bytes: Uint8Array): string {
	const line = headerLine(bytes) ?? '';
	const [time = ''] = (line.split(line.charAt(3))[6] ?? '').split('^');
	return time.replace(/[+-]\d{4}$/, '');
}
