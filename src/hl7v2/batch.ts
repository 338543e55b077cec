import type { Flag } from '#record/flag.ts';
import { continues } from './continuation.ts';
import { latin1 } from './latin1.ts';

/** Matches `MSH` followed by possible delimiters. A line of text that begins with these letters does not match. */
const header = /(?:^|[\r\n])[ \t\v]*(MSH[!-/:-@[-`{-~]{4})/g;
/** Matches a header inside a batch, however damaged: there only messages and the segments of the protocol stand. */
const anyHeader = /(?:^|[\r\n])[ \t\v]*(MSH(?![A-Za-z0-9]))/g;
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

function headerOffsets(text: string, pattern = header): number[] {
	return Array.from(text.matchAll(pattern), (match) => match.index + match[0].length - (match[1] ?? '').length);
}

function isBatch(bytes: Buffer): boolean {
	return bytes[0] !== m && begin.test(latin1(bytes, 0, Math.min(bytes.length, beginBytes)));
}

function buffer(bytes: Uint8Array): Buffer {
	return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}

/**
 * Returns the messages of a frame or body: a batch (FHS, BHS, BTS, FTS) without its envelope, or several messages one after the other. They
 * are views into `bytes`. A message that continues the one before it (v2.5.1 §2.10.2) is part of that. Bytes that hold no message at all are
 * returned whole, so that they get an answer.
 */
export function splitMessages(bytes: Uint8Array): Uint8Array[] {
	const all = buffer(bytes);
	const batch = isBatch(all);
	if (!batch && !mayHoldMore(all, 3)) return [bytes];
	const text = latin1(bytes);
	const extents = extentsIn(text, batch);
	if (extents.length === 0 || (extents.length === 1 && !batch)) return [bytes];
	return extents.map(({ start, end }) => bytes.subarray(start, end));
}

interface Extent {
	start: number;
	end: number;
}

function extentsIn(text: string, batch: boolean): Extent[] {
	const starts = headerOffsets(text, batch ? anyHeader : header);
	const extents: Extent[] = [];
	for (const [index, start] of starts.entries()) {
		const next = starts[index + 1] ?? text.length;
		envelope.lastIndex = start;
		const end = Math.min((envelope.exec(text)?.index ?? text.length) + 1, next);
		const last = extents.at(-1);
		if (last?.end === start && continues(text.slice(last.start, start), text.slice(start, end))) last.end = end;
		else extents.push({ start, end });
	}
	return extents;
}

const counted = /(?:^|[\r\n])[ \t]*(FHS|BHS|BTS|FTS|MSH)(?![A-Za-z0-9])([^\r\n]*)/g;

/**
 * Compares the counts of a batch with what came: BTS-1 its messages, FTS-1 its batches (v2.5.1 §2.10.3). Undefined when they agree, when there
 * are none, and for bytes that are no batch. A batch that lost messages looks whole otherwise.
 */
export function batchFlag(bytes: Uint8Array): Flag | undefined {
	if (!isBatch(buffer(bytes))) return undefined;
	let messages = 0;
	let batches = 0;
	for (const [, id, fields = ''] of latin1(bytes).matchAll(counted)) {
		if (id === 'MSH') messages += 1;
		if (id === 'BHS') messages = 0;
		if (id !== 'BTS' && id !== 'FTS') continue;
		const stated = fields.slice(1).split(fields.charAt(0), 1)[0]?.trim() ?? '';
		const found = id === 'BTS' ? messages : batches;
		if (/^\d{1,9}$/.test(stated) && Number(stated) !== found) {
			const what = id === 'BTS' ? 'messages' : 'batches';
			return { code: 'batch-count', text: `${id}-1 counts ${Number(stated)} ${what}, and ${found} came` };
		}
		if (id === 'BTS') batches += 1;
		messages = 0;
	}
	return undefined;
}

/** Counts the messages that `splitMessages` finds; 0 when there is none. */
export function countMessages(bytes: Uint8Array): number {
	const all = buffer(bytes);
	if (all[0] === m && !mayHoldMore(all, 3)) return headerOffsets(latin1(all, 0, Math.min(all.length, 16))).length;
	return extentsIn(latin1(bytes).replace(/^\xef\xbb\xbf/, ''), isBatch(all)).length;
}
