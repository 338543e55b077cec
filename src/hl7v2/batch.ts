import { latin1 } from './latin1.ts';

/** Matches `MSH` followed by possible delimiters. A line of text that begins with these letters does not match. */
const header = /(?:^|[\r\n])[ \t\v]*(MSH[!-/:-@[-`{-~]{4})/g;
/** The segments of the batch protocol (v2.5.1 §2.10.3). They belong to no message. */
const envelope = /(?:^|[\r\n])[ \t]*(?:FHS|BHS|BTS|FTS)(?![A-Za-z0-9])/g;
const begin = /^(?:\xef\xbb\xbf)?[\0\t\n\v\r ]*(?:FHS|BHS)(?![A-Za-z0-9])/;
/** Enough for a byte order mark, white space and a segment id. */
const beginBytes = 256;

const m = 0x4d;

/** Tells whether a second header may follow. The test is cheap, so that a single message costs little. */
function mayHoldMore(bytes: Buffer, from: number): boolean {
	for (let at = bytes.indexOf('MSH', from, 'latin1'); at !== -1; at = bytes.indexOf('MSH', at + 3, 'latin1')) {
		const before = bytes[at - 1];
		if (before !== undefined && before <= 0x20) return true;
	}
	return false;
}

function headerOffsets(text: string): number[] {
	return Array.from(text.matchAll(header), (match) => match.index + match[0].length - (match[1] ?? '').length);
}

function isBatch(bytes: Buffer): boolean {
	return bytes[0] !== m && begin.test(latin1(bytes, 0, Math.min(bytes.length, beginBytes)));
}

function buffer(bytes: Uint8Array): Buffer {
	return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}

/**
 * Returns the messages of a frame or body: a batch (FHS, BHS, BTS, FTS) without its envelope, or several messages one after the other. They
 * are
 * views into `bytes`. Bytes that hold no message at all are returned whole, so that they get an answer.
 */
export function splitMessages(bytes: Uint8Array): Uint8Array[] {
	const all = buffer(bytes);
	const batch = isBatch(all);
	if (!batch && !mayHoldMore(all, 3)) return [bytes];
	const text = latin1(bytes);
	const starts = headerOffsets(text);
	if (starts.length === 0 || (starts.length === 1 && !batch)) return [bytes];
	return starts.map((start, index) => {
		const next = starts[index + 1] ?? text.length;
		envelope.lastIndex = start;
		const end = envelope.exec(text)?.index ?? text.length;
		return bytes.subarray(start, Math.min(end + 1, next));
	});
}

/** Counts the messages that `splitMessages` finds; 0 when there is none. */
export function countMessages(bytes: Uint8Array): number {
	const all = buffer(bytes);
	if (all[0] === m && !mayHoldMore(all, 3)) return headerOffsets(latin1(all, 0, Math.min(all.length, 16))).length;
	return headerOffsets(latin1(bytes).replace(/^\xef\xbb\xbf/, '')).length;
}
