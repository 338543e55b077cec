import { Failure } from '#core/failure.ts';
import { type ResolvedCharset, resolveCharset } from './charset.ts';
import { type Delimiters, findHeader, readDelimiters } from './delimiters.ts';
import { latin1 } from './latin1.ts';
import { contentEnd, declaredCharset, Message, messageTypeOf } from './message.ts';
import { ScannedText, Segment, type Source, sharedTextMax } from './segment.ts';

/** The parts of a message that access and the message log need before it is parsed. */
export interface MessageHead {
	/** MSH-3.1, the sending application. */
	application: string;
	/** MSH-4.1, the sending facility. */
	facility: string;
	messageType: string;
	controlId: string;
}

/** An MSH segment is nearly always shorter than this. */
const usualBytes = 512;
const lineEnd = /[\r\n]/g;

/** `undefined` when the message does not begin with a usable MSH. `line` is it as sent, up to its line end, as Latin-1. */
export function openHeader(bytes: Uint8Array): { line: string; delimiters: Delimiters } | undefined {
	const line = headerLine(bytes);
	if (line === undefined) return undefined;
	try {
		return { line, delimiters: readDelimiters(line, 0) };
	} catch (error) {
		if (error instanceof Failure) return undefined;
		throw error;
	}
}

/** Returns the MSH segment as sent, as Latin-1. */
export function headerLine(bytes: Uint8Array): string | undefined {
	return lineIn(latin1(bytes, 0, Math.min(bytes.length, usualBytes)), bytes.length) ?? lineIn(latin1(bytes), bytes.length);
}

function lineIn(text: string, length: number): string | undefined {
	const start = findHeader(text);
	if (start === -1) return undefined;
	lineEnd.lastIndex = start;
	const end = lineEnd.exec(text)?.index ?? (text.length === length ? length : undefined);
	return end === undefined ? undefined : text.slice(start, contentEnd(text, start, end));
}

/** The MSH segment without the message. The rest is unknown, so no search is skipped. */
class HeaderSource implements Source {
	readonly delimiters: Delimiters;
	readonly plain = false;
	readonly hasNul = true;
	readonly repetitionsMax = Number.POSITIVE_INFINITY;
	readonly segment: Segment;
	readonly #bytes: Uint8Array;

	constructor(text: string, bytes: Uint8Array) {
		this.#bytes = bytes;
		this.delimiters = readDelimiters(text, 0);
		this.segment = new Segment(this, new ScannedText(text, this.delimiters, text.length > sharedTextMax), 'MSH', 0, 0, text.length);
	}

	resolved(): ResolvedCharset {
		return resolveCharset(declaredCharset(this.segment), this.#bytes);
	}

	sequenceOf(): number {
		return 1;
	}
}

function readHeader(bytes: Uint8Array): Segment | undefined {
	const line = headerLine(bytes);
	if (line === undefined) return undefined;
	const { segment } = new HeaderSource(line, bytes);
	const declared = declaredCharset(segment);
	// Rare, and delimiters can be found only after decoding.
	if (declared !== '' && resolveCharset(declared, bytes, false).charset.overlapsAscii) return Message.parse(bytes).segments[0];
	return segment;
}

/** Returns MSH-18 as sent. Empty if it is so or `""`, or if the message does not begin with a usable MSH. */
export function statedCharset(bytes: Uint8Array): string {
	try {
		const line = headerLine(bytes);
		const stated = line === undefined ? '' : declaredCharset(new HeaderSource(line, bytes).segment).trim();
		return stated === '""' ? '' : stated;
	} catch (error) {
		if (error instanceof Failure) return '';
		throw error;
	}
}

/** Reads only the MSH segment and returns the same as `Message`. `undefined` when the message does not begin with a usable one. */
export function readHead(bytes: Uint8Array): MessageHead | undefined {
	try {
		const header = readHeader(bytes);
		if (header === undefined) return undefined;
		return { application: header.text(3), facility: header.text(4), messageType: messageTypeOf(header), controlId: header.text(10) };
	} catch (error) {
		if (error instanceof Failure) return undefined;
		throw error;
	}
}
