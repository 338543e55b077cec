import { isAscii } from 'node:buffer';
import { Failure } from '#core/failure.ts';
import { type Charset, type ResolvedCharset, resolveCharset, utf8 } from './charset.ts';
import { continuationOffsets, joinParts } from './continuation.ts';
import { hasControlCharacters } from './control-characters.ts';
import { type Delimiters, findHeader, readDelimiters } from './delimiters.ts';
import { latin1 } from './latin1.ts';
import { ScannedText, Segment, type Source, sharedTextMax } from './segment.ts';
import { isSegmentId, packedId } from './segment-id.ts';

export { Segment } from './segment.ts';

/** Returns the end of a line without the NULs and framing characters (start and end of block, end of file) at its end. */
export function contentEnd(text: string, start: number, lineEnd: number): number {
	let end = lineEnd;
	while (end > start) {
		const code = text.charCodeAt(end - 1);
		if (code !== 0 && code !== 0x1c && code !== 0x0b && code !== 0x1a) break;
		end -= 1;
	}
	return end;
}

/** Caches segment ids. There are few, and with one string each, comparisons are fast. The pattern bounds their number: 33,696. */
const segmentIds = new Map<number, string>();

/** A line without a separator may be long. Nobody reads such a segment, so the beginning is enough as its name. */
const malformedIdLength = 12;

export interface ParseOptions {
	segmentsMax?: number;
	repetitionsMax?: number;
	continuationsMax?: number;
	/** The character set that holds, whatever MSH-18 says; written as in MSH-18. */
	charset?: string | undefined;
}

/**
 * One HL7 v2 message over its bytes, which must not change while it is in use. A single pass finds the segments; everything else is found
 * and
 * decoded when it is read. Segments end in CR, LF or CRLF; blank lines are skipped. Where they end in CR, a line behind an LF alone that begins with no
 * segment id is text of the segment before it: an editor's line end that the sender did not escape.
 */
export class Message {
	readonly bytes: Uint8Array;
	readonly delimiters: Delimiters;
	/** Lines that do not begin with a segment id (v2.5.1 §2.5.2). */
	readonly malformedSegments: number;
	/** The message holds what no message may hold, or its parts cannot be joined. It can be answered and logged, and not applied. */
	readonly fault: Failure | undefined;
	readonly #header: Segment;
	readonly #source: MessageSource;

	private constructor(bytes: Uint8Array, source: MessageSource, fault?: Failure) {
		this.bytes = bytes;
		this.delimiters = source.delimiters;
		this.malformedSegments = source.malformed;
		this.fault = fault;
		this.#source = source;
		this.#header = source.segment(0);
	}

	/**
	 * Throws `not-hl7` when the message does not begin with MSH or its delimiters are unusable, and `value-too-long`
	 * when it has more than `segmentsMax` segments. A field with more than `repetitionsMax` repetitions is refused when it is read.
	 */
	static parse(bytes: Uint8Array, options: ParseOptions = {}): Message {
		const sent = new MessageSource(bytes, options);
		const joined = sent.isDivided
			? joinParts(sent.message, sent.delimiters, options.continuationsMax ?? Number.POSITIVE_INFINITY)
			: undefined;
		if (joined !== undefined && 'fault' in joined) return new Message(bytes, sent, joined.fault);
		const fault = framingFault(sent.text);
		const source = joined === undefined ? sent : new MessageSource(Buffer.from(joined.text, 'latin1'), options);
		const charset = source.overlapping();
		if (charset === undefined) return new Message(bytes, source, fault);
		const transcoded = Buffer.from(charset.charset.decode(source.text), 'utf8');
		const rewritten = new MessageSource(transcoded, options, charset);
		rewritten.hasEscape = source.hasEscape;
		return new Message(bytes, rewritten, fault);
	}

	/** The segments in order, MSH included. Malformed ones are included too, under an id that nobody reads. */
	get segments(): readonly Segment[] {
		return this.#source.all();
	}

	/** `ADT^A08`, from MSH-9.1 and MSH-9.2; without `^` when there is no event. */
	get messageType(): string {
		return messageTypeOf(this.#header);
	}

	/** MSH-10. */
	get controlId(): string {
		return this.#header.text(10);
	}

	/** MSH-12.1. */
	get version(): string {
		return this.#header.text(12);
	}

	get charset(): Charset {
		return (this.#source.declared ?? this.#source.resolved()).charset;
	}

	/** MSH-18 is empty or unknown, or the bytes contradict it. */
	get charsetAssumed(): boolean {
		return (this.#source.declared ?? this.#source.resolved()).assumed;
	}

	/** The message has an ESC, by which ISO 2022 changes the character set, and MSH-18 declares no set that it may reach. */
	get hasStrayEscape(): boolean {
		return this.#source.hasEscape && (this.#source.declared?.charset.name !== 'iso-2022' || this.#source.declared.assumed);
	}

	/** Has U+FFFD stand for control characters in all that is read from here on. */
	replaceControls(): void {
		this.#source.replaceControls();
	}

	/** A value that was read had control characters, and `replaceControls` was called before. */
	get hasReplacedControls(): boolean {
		return this.#source.hasReplaced;
	}

	/** Returns the headers of the continuations that were joined, each with what follows it (see joinParts). */
	get continuations(): readonly Uint8Array[] {
		if (this.fault !== undefined || this.#source.text.length === this.bytes.length) return [];
		return continuationOffsets(latin1(this.bytes)).map((start) => this.bytes.subarray(start));
	}

	/** Returns the segments of one id in order. */
	all(id: string): readonly Segment[] {
		return this.#source.allOf(id);
	}

	first(id: string): Segment | undefined {
		return this.#source.first(id);
	}
}

/** `ADT^A08` from the MSH segment. */
export function messageTypeOf(header: Segment): string {
	const code = header.text(9);
	const event = header.text(9, 2);
	return event === '' ? code : `${code}^${event}`;
}

/** Up to this number of segments, a search by id examines all of them. */
const linearSearchMax = 64;

const addId = packedId('ADD', 0);
const dscId = packedId('DSC', 0);

/** Returns why a message with a 0x1C inside is refused: there MLLP ends a frame, so nobody knows what belongs to it. At its end it is tolerated. */
function framingFault(text: string): Failure | undefined {
	let at = text.indexOf('\x1c');
	if (at === -1) return undefined;
	while (at < text.length && text.charCodeAt(at) <= 0x20) at += 1;
	if (at === text.length) return undefined;
	return new Failure('not-hl7', 'the message has the byte 0x1C inside, which ends a frame of MLLP; HL7 allows none in data');
}

class MessageSource implements Source {
	readonly text: string;
	readonly delimiters: Delimiters;
	plain: boolean;
	readonly hasNul: boolean;
	replacesControls = false;
	hasReplaced = false;
	readonly repetitionsMax: number;
	/** The character set the bytes had before they were rewritten as UTF-8. */
	readonly declared: ResolvedCharset | undefined;
	hasEscape = false;
	malformed = 0;
	/** A segment continues another one, or the message another message (v2.5.1 §2.10.2). */
	isDivided = false;
	readonly #charset: string | undefined;
	readonly #start: number;
	/** Undefined in a message so large that each segment has a text of its own. Then no search leaves its segment. */
	readonly #shared: ScannedText | undefined;
	readonly #bytes: Uint8Array;
	readonly #ascii: boolean;
	/** Three numbers for each segment: its start, its end, and its packed id, which is 0 unless it has three characters. */
	readonly #lines: number[] = [];
	/** It is made at the first access. */
	readonly #segments: (Segment | undefined)[] = [];
	#complete: Segment[] | undefined;
	#resolved: ResolvedCharset | undefined;
	#byId: Map<string, Segment[]> | undefined;
	#sequences: number[] | undefined;

	constructor(bytes: Uint8Array, { segmentsMax, repetitionsMax, charset }: ParseOptions, declared?: ResolvedCharset) {
		this.#charset = charset;
		this.repetitionsMax = repetitionsMax ?? Number.POSITIVE_INFINITY;
		this.#bytes = bytes;
		this.text = latin1(bytes);
		this.declared = declared;
		const start = findHeader(this.text);
		if (start === -1) throw new Failure('not-hl7', 'the message does not begin with an MSH segment');
		this.delimiters = readDelimiters(this.text, start);
		this.#start = start;
		const { text } = this;
		this.hasNul = text.includes('\0');
		this.#ascii = isAscii(bytes);
		this.plain = this.#ascii && !this.hasNul;
		this.#shared = text.length > sharedTextMax ? undefined : new ScannedText(text, this.delimiters, false);
		this.#findSegments(start, text.length, segmentsMax ?? Number.POSITIVE_INFINITY);
	}

	replaceControls(): void {
		if (!hasControlCharacters(this.#bytes)) return;
		this.replacesControls = true;
		this.plain = false;
	}

	/** The text from MSH on. */
	get message(): string {
		return this.text.slice(this.#start);
	}

	/** Set when the bytes must be rewritten before delimiters can be found in them. */
	overlapping(): ResolvedCharset | undefined {
		this.hasEscape = this.text.includes('\x1b');
		if (this.#ascii && !this.hasEscape) return undefined;
		const resolved = resolveCharset(this.#charset ?? declaredCharset(this.segment(0)), this.#bytes, false);
		return resolved.charset.overlapsAscii ? resolved : undefined;
	}

	resolved(): ResolvedCharset {
		if (this.declared !== undefined) return { charset: utf8, assumed: false };
		this.#resolved ??= resolveCharset(this.#charset ?? declaredCharset(this.segment(0)), this.#bytes, this.#ascii);
		return this.#resolved;
	}

	/** `index` must be that of a line that was found; line 0 is MSH. */
	segment(index: number): Segment {
		return this.#segments[index] ?? this.#open(index);
	}

	all(): readonly Segment[] {
		if (this.#complete !== undefined) return this.#complete;
		const all: Segment[] = [];
		const count = this.#lines.length / 3;
		for (let index = 0; index < count; index++) all.push(this.segment(index));
		this.#complete = all;
		return all;
	}

	allOf(id: string): readonly Segment[] {
		if (this.#lines.length > 3 * linearSearchMax || id.length !== 3) return this.#grouped().get(id) ?? [];
		const wanted = packedId(id, 0);
		const lines = this.#lines;
		const found: Segment[] = [];
		for (let at = 2; at < lines.length; at += 3) if (lines[at] === wanted) found.push(this.segment((at - 2) / 3));
		return found;
	}

	first(id: string): Segment | undefined {
		if (this.#lines.length > 3 * linearSearchMax || id.length !== 3) return this.#grouped().get(id)?.[0];
		const wanted = packedId(id, 0);
		const lines = this.#lines;
		for (let at = 2; at < lines.length; at += 3) if (lines[at] === wanted) return this.segment((at - 2) / 3);
		return undefined;
	}

	sequenceOf(segment: Segment): number {
		this.#grouped();
		return this.#sequences?.[segment.index] ?? 1;
	}

	#grouped(): Map<string, Segment[]> {
		if (this.#byId !== undefined) return this.#byId;
		const byId = new Map<string, Segment[]>();
		const sequences: number[] = [];
		for (const segment of this.all()) {
			const same = byId.get(segment.id);
			if (same === undefined) byId.set(segment.id, [segment]);
			else same.push(segment);
			sequences.push(same === undefined ? 1 : same.length);
		}
		this.#sequences = sequences;
		this.#byId = byId;
		return byId;
	}

	#findSegments(start: number, end: number, segmentsMax: number): void {
		const { text } = this;
		let position = start;
		let nextReturn = found(text.indexOf('\r', position), end);
		let nextFeed = found(text.indexOf('\n', position), end);
		const endsInReturn = nextReturn < nextFeed;
		const linesMax = 3 * segmentsMax;
		while (position < end) {
			// A delimiter is searched again only when it lies behind, so neither is searched twice.
			if (nextReturn < position) nextReturn = found(text.indexOf('\r', position), end);
			if (nextFeed < position) nextFeed = found(text.indexOf('\n', position), end);
			const lineEnd = Math.min(nextReturn, nextFeed);
			const isBehindFeed = endsInReturn && text.charCodeAt(position - 1) === 0x0a && text.charCodeAt(position - 2) !== 0x0d;
			this.#take(position, lineEnd, isBehindFeed);
			if (this.#lines.length > linesMax) throw new Failure('value-too-long', `the message has more than ${segmentsMax} segments`);
			position = lineEnd + 1;
		}
	}

	/** `mayContinue`: a line that begins with no segment id and a separator belongs to the segment before it, unless that is MSH, which has no texts. */
	#take(from: number, lineEnd: number, mayContinue: boolean): void {
		const { text } = this;
		const end = contentEnd(text, from, lineEnd);
		let start = from;
		while (start < end && text.charCodeAt(start) <= 0x20) start += 1;
		if (start === end) return;
		const three = end === start + 3 || (end > start + 3 && text.charAt(start + 3) === this.delimiters.field);
		const packed = three ? packedId(text, start) : 0;
		if (mayContinue && this.#lines.length > 3 && (end === start + 3 || !isSegmentId(packed))) {
			this.#lines[this.#lines.length - 2] = end;
			return;
		}
		if (!isSegmentId(packed)) this.malformed += 1;
		else if (packed === addId || packed === dscId) this.isDivided = true;
		this.#lines.push(start, end, packed);
	}

	#open(index: number): Segment {
		const lines = this.#lines;
		const start = lines[3 * index] as number;
		const end = lines[3 * index + 1] as number;
		const id = this.#idOf(start, end, lines[3 * index + 2] as number);
		const shared = this.#shared;
		const segment =
			shared === undefined
				? new Segment(this, new ScannedText(this.text.slice(start, end), this.delimiters, true), id, index, 0, end - start)
				: new Segment(this, shared, id, index, start, end);
		this.#segments[index] = segment;
		return segment;
	}

	#idOf(start: number, end: number, packed: number): string {
		const { text } = this;
		if (packed === 0) {
			// An id of two characters, or of four and more, is never asked for.
			const line = text.slice(start, end);
			const separator = line.indexOf(this.delimiters.field);
			return line.slice(0, Math.min(separator === -1 ? line.length : separator, malformedIdLength));
		}
		let id = segmentIds.get(packed);
		if (id === undefined) {
			id = text.slice(start, start + 3);
			if (isSegmentId(packed)) segmentIds.set(packed, id);
		}
		return id;
	}
}

function found(at: number, end: number): number {
	return at === -1 ? end : at;
}

/** Returns the repetitions of MSH-18 as sent, with `~` between them. */
export function declaredCharset(header: Segment): string {
	const raw = header.raw(18);
	return raw === '' ? '' : raw.replaceAll(header.delimiters.repetition, '~');
}
