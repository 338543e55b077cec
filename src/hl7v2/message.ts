import { isAscii } from 'node:buffer';
import { Failure } from '#core/failure.ts';
import { type Charset, type ResolvedCharset, resolveCharset, utf8 } from './charset.ts';
import { type Delimiters, findHeader, readDelimiters } from './delimiters.ts';
import { latin1 } from './latin1.ts';
import { ScannedText, Segment, type Source, sharedTextMax } from './segment.ts';

export { Segment } from './segment.ts';

/** Where a line ends without the NULs and framing characters (start and end of block, end of file) behind it. */
export function contentEnd(text: string, start: number, lineEnd: number): number {
	let end = lineEnd;
	while (end > start) {
		const code = text.charCodeAt(end - 1);
		if (code !== 0 && code !== 0x1c && code !== 0x0b && code !== 0x1a) break;
		end -= 1;
	}
	return end;
}

/** Segment ids are few; one string each makes comparing them a comparison of pointers. Bounded by the pattern: 33,696. */
const segmentIds = new Map<number, string>();

const wellFormed = /^[A-Z][A-Z0-9]{2}$/;
/** A line without a separator may be long; as the name of a segment that nobody reads its beginning will do. */
const malformedIdLength = 12;

export interface ParseOptions {
	segmentsMax?: number;
}

/**
 * One HL7 v2 message over its bytes, which must not change while it is in use. A single pass finds the segments; all
 * else is found and decoded when read. Segments end in CR, LF or CRLF; blank lines are skipped.
 */
export class Message {
	readonly bytes: Uint8Array;
	readonly delimiters: Delimiters;
	/** In order, MSH included; malformed ones too, under an id that nobody reads. */
	readonly segments: readonly Segment[];
	/** Lines that do not begin with a segment id (v2.5.1 §2.5.2). */
	readonly malformedSegments: number;
	readonly #header: Segment;
	readonly #source: MessageSource;

	private constructor(bytes: Uint8Array, source: MessageSource, header: Segment) {
		this.bytes = bytes;
		this.delimiters = source.delimiters;
		this.segments = source.segments;
		this.malformedSegments = source.malformed;
		this.#source = source;
		this.#header = header;
	}

	/**
	 * Throws `not-hl7` when the message does not begin with MSH or its delimiters are unusable, and `value-too-long`
	 * when it has more than `segmentsMax` segments.
	 */
	static parse(bytes: Uint8Array, options: ParseOptions = {}): Message {
		const source = new MessageSource(bytes, options.segmentsMax ?? Number.POSITIVE_INFINITY);
		const header = source.segments[0];
		if (header === undefined) throw new Failure('not-hl7', 'the message does not begin with an MSH segment');
		const charset = source.overlapping(header);
		if (charset === undefined) return new Message(bytes, source, header);
		const transcoded = Buffer.from(charset.decode(latin1(bytes)), 'utf8');
		const decoded = new MessageSource(transcoded, options.segmentsMax ?? Number.POSITIVE_INFINITY, charset);
		return new Message(bytes, decoded, decoded.segments[0] ?? header);
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
		return this.#source.declared ?? this.#source.resolved().charset;
	}

	/** MSH-18 is empty or unknown, or the bytes contradict it. */
	get charsetAssumed(): boolean {
		return this.#source.declared === undefined && this.#source.resolved().assumed;
	}

	/** The segments of one id in order. */
	all(id: string): readonly Segment[] {
		return this.#source.byId().get(id) ?? [];
	}

	first(id: string): Segment | undefined {
		return this.#source.first(id);
	}
}

/** `ADT^A08` from the MSH segment. */
export function messageTypeOf(header: Segment): string {
	const event = header.text(9, 2);
	return event === '' ? header.text(9) : `${header.text(9)}^${event}`;
}

/** Up to so many segments a search by id goes through all of them. */
const linearSearchMax = 64;

class MessageSource implements Source {
	readonly text: string;
	readonly delimiters: Delimiters;
	readonly segments: Segment[] = [];
	readonly plain: boolean;
	readonly hasNul: boolean;
	/** Undefined in a message so large that each segment has a text of its own: then no search leaves its segment. */
	readonly #shared: ScannedText | undefined;
	/** The character set the bytes had before they were rewritten as UTF-8. */
	readonly declared: Charset | undefined;
	malformed = 0;
	readonly #bytes: Uint8Array;
	readonly #ascii: boolean;
	#resolved: ResolvedCharset | undefined;
	#byId: Map<string, Segment[]> | undefined;
	#sequences: Int32Array | undefined;

	constructor(bytes: Uint8Array, segmentsMax: number, declared?: Charset) {
		this.#bytes = bytes;
		this.text = latin1(bytes);
		this.declared = declared;
		const start = findHeader(this.text);
		if (start === -1) throw new Failure('not-hl7', 'the message does not begin with an MSH segment');
		this.delimiters = readDelimiters(this.text, start);
		const { text } = this;
		this.hasNul = text.includes('\0');
		this.#ascii = isAscii(bytes);
		this.plain = this.#ascii && !this.hasNul;
		this.#shared = text.length > sharedTextMax ? undefined : new ScannedText(text, this.delimiters, false);
		this.#findSegments(start, text.length, segmentsMax);
	}

	/** Set when the bytes must be rewritten before delimiters can be found in them. */
	overlapping(header: Segment): Charset | undefined {
		if (this.#ascii && !this.text.includes('\x1b')) return undefined;
		const charset = resolveCharset(declaredCharset(header), this.#bytes, false).charset;
		return charset.overlapsAscii ? charset : undefined;
	}

	resolved(): ResolvedCharset {
		if (this.declared !== undefined) return { charset: utf8, assumed: false };
		const header = this.segments[0];
		this.#resolved ??= resolveCharset(header === undefined ? '' : declaredCharset(header), this.#bytes, this.#ascii);
		return this.#resolved;
	}

	byId(): Map<string, Segment[]> {
		if (this.#byId !== undefined) return this.#byId;
		const byId = new Map<string, Segment[]>();
		const sequences = new Int32Array(this.segments.length);
		for (const segment of this.segments) {
			const same = byId.get(segment.id);
			if (same === undefined) byId.set(segment.id, [segment]);
			else same.push(segment);
			sequences[segment.index] = same === undefined ? 1 : same.length;
		}
		this.#sequences = sequences;
		this.#byId = byId;
		return byId;
	}

	sequenceOf(segment: Segment): number {
		this.byId();
		return this.#sequences?.[segment.index] ?? 1;
	}

	first(id: string): Segment | undefined {
		if (this.#byId !== undefined || this.segments.length > linearSearchMax) return this.byId().get(id)?.[0];
		for (const segment of this.segments) if (segment.id === id) return segment;
		return undefined;
	}

	#findSegments(start: number, end: number, segmentsMax: number): void {
		const { text } = this;
		const returns = text.indexOf('\r', start) !== -1;
		const feeds = text.indexOf('\n', start) !== -1;
		let position = start;
		let nextReturn = -1;
		let nextFeed = -1;
		while (position < end) {
			// Each is searched again only when it lies behind, so that neither is looked for twice.
			if (nextReturn < position) nextReturn = returns ? text.indexOf('\r', position) : end;
			if (nextReturn === -1) nextReturn = end;
			if (nextFeed < position) nextFeed = feeds ? text.indexOf('\n', position) : end;
			if (nextFeed === -1) nextFeed = end;
			const lineEnd = Math.min(nextReturn, nextFeed, end);
			this.#take(position, lineEnd);
			if (this.segments.length > segmentsMax) throw new Failure('value-too-long', `the message has more than ${segmentsMax} segments`);
			position = lineEnd + 1;
		}
	}

	#take(from: number, lineEnd: number): void {
		const { text } = this;
		const end = contentEnd(text, from, lineEnd);
		let start = from;
		while (start < end && text.charCodeAt(start) <= 0x20) start += 1;
		if (start === end) return;
		const fourth = start + 3 < end ? text.charAt(start + 3) : this.delimiters.field;
		const index = this.segments.length;
		if (fourth === this.delimiters.field && start + 3 <= end) {
			const packed = (text.charCodeAt(start) << 16) | (text.charCodeAt(start + 1) << 8) | text.charCodeAt(start + 2);
			let id = segmentIds.get(packed);
			if (id === undefined) {
				id = text.slice(start, start + 3);
				if (wellFormed.test(id)) segmentIds.set(packed, id);
				else this.malformed += 1;
			}
			this.#add(id, index, start, end);
			return;
		}
		this.malformed += 1;
		const line = text.slice(start, end);
		const separator = line.indexOf(this.delimiters.field);
		const idEnd = Math.min(separator === -1 ? line.length : separator, malformedIdLength);
		// Two characters or four and more: never an id that somebody asks for.
		this.#add(line.slice(0, idEnd), index, start, end);
	}

	#add(id: string, index: number, start: number, end: number): void {
		const shared = this.#shared;
		if (shared !== undefined) {
			this.segments.push(new Segment(this, shared, id, index, start, end));
		} else {
			const own = new ScannedText(this.text.slice(start, end), this.delimiters, true);
			this.segments.push(new Segment(this, own, id, index, 0, end - start));
		}
	}
}

/** MSH-18, first repetition, as sent. */
export function declaredCharset(header: Segment): string {
	const raw = header.raw(18);
	return raw === '' ? '' : (raw.split(header.delimiters.repetition, 1)[0] ?? '');
}
