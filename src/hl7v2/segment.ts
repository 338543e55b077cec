import { type Charset, hasNonAscii, type ResolvedCharset } from './charset.ts';
import type { Delimiters } from './delimiters.ts';
import { unescapeText } from './escape.ts';

/** What the segments of a message share. Offsets into `text` are offsets into the bytes. */
export interface Source {
	/** The bytes as Latin-1: one character a byte. */
	readonly text: string;
	readonly delimiters: Delimiters;
	/** The message has none of these outside MSH-2, so nothing need be looked for in its fields. */
	readonly plain: boolean;
	readonly hasEscape: boolean;
	readonly hasRepetition: boolean;
	readonly hasSubcomponent: boolean;
	/** Gives a string of its own for one that would keep the whole frame alive. */
	readonly copies: boolean;
	readonly hasNul: boolean;
	resolved(): ResolvedCharset;
	sequenceOf(segment: Segment): number;
}

/** V8 copies substrings shorter than this; longer ones point into their parent and keep it alive. */
const slicedLengthMin = 13;

/** `""`: the sender asks to delete the value. */
const nullValue = '""';

/** One segment: fields are found when first asked for, and decoded when read. Numbers are the standard's, from 1. */
export class Segment {
	readonly id: string;
	/** Position in the message, from 0. */
	readonly index: number;
	readonly #source: Source;
	readonly #start: number;
	readonly #end: number;
	/** The text of the segment: searches in it end where it ends, so no read costs more than its segment. */
	#line: string | undefined;
	/** `#offsets[n]` is where piece n begins in `#line`; found up to the highest piece asked for. */
	#offsets: number[] | undefined;
	/** MSH-1 is the separator itself, so its fields stand one piece earlier. */
	readonly #shift: number;

	constructor(source: Source, id: string, index: number, start: number, end: number) {
		this.#source = source;
		this.id = id;
		this.index = index;
		this.#start = start;
		this.#end = end;
		this.#shift = id === 'MSH' ? 1 : 0;
	}

	get delimiters(): Delimiters {
		return this.#source.delimiters;
	}

	/** 1-based among the segments of the same id. */
	get sequence(): number {
		return this.#source.sequenceOf(this);
	}

	/** The segment as sent: bytes as Latin-1. */
	get line(): string {
		this.#line ??= this.#source.text.slice(this.#start, this.#end);
		return this.#line;
	}

	/** The field as sent: bytes as Latin-1, delimiters and escapes untouched; '' when absent. */
	raw(field: number): string {
		if (this.#shift === 1 && field === 1) return this.#source.delimiters.field;
		return field < 1 ? '' : this.#piece(field - this.#shift);
	}

	isPresent(field: number): boolean {
		return this.raw(field) !== '';
	}

	/** The field is exactly `""`. */
	isNull(field: number): boolean {
		return this.raw(field) === nullValue;
	}

	isComponentNull(field: number, component: number, repetition = 0): boolean {
		return this.#part(field, component, repetition, 0) === nullValue;
	}

	/** Decoded and unescaped; '' when absent or `""`. `repetition` counts from 0, component and subcomponent from 1. */
	text(field: number, component = 1, repetition = 0, subcomponent = 1): string {
		const part = this.#part(field, component, repetition, subcomponent);
		return part === '' || part === nullValue ? '' : this.#decode(part);
	}

	/** The whole field, or one repetition of it, decoded and unescaped, delimiters left in; '' when absent or `""`. */
	display(field: number, repetition?: number): string {
		const raw = repetition === undefined ? this.raw(field) : this.#repetition(field, repetition);
		return raw === '' || raw === nullValue ? '' : this.#decode(raw);
	}

	/** 0 when the field is absent. */
	repetitions(field: number): number {
		const raw = this.raw(field);
		if (raw === '') return 0;
		return this.#isEncodingCharacters(field) ? 1 : count(raw, this.#source.delimiters.repetition);
	}

	/** 0 when the field or the repetition is absent. */
	components(field: number, repetition = 0): number {
		const raw = this.#repetition(field, repetition);
		if (raw === '') return 0;
		return this.#isEncodingCharacters(field) ? 1 : count(raw, this.#source.delimiters.component);
	}

	/** 0 when the component is absent. */
	subcomponents(field: number, component: number, repetition = 0): number {
		const raw = this.#part(field, component, repetition, 0);
		if (raw === '') return 0;
		return this.#isEncodingCharacters(field) ? 1 : count(raw, this.#source.delimiters.subcomponent);
	}

	#isEncodingCharacters(field: number): boolean {
		return this.#shift === 1 && field <= 2;
	}

	/** What stands between two field separators; piece 0 is the segment id. */
	#piece(number: number): string {
		const line = this.line;
		const separator = this.#source.delimiters.field;
		this.#offsets ??= [0];
		const offsets = this.#offsets;
		while (offsets.length <= number + 1) {
			const from = offsets[offsets.length - 1] as number;
			if (from > line.length) return '';
			const next = line.indexOf(separator, from);
			offsets.push(next === -1 ? line.length + 1 : next + 1);
		}
		return line.slice(offsets[number] as number, (offsets[number + 1] as number) - 1);
	}

	#repetition(field: number, repetition: number): string {
		const raw = this.raw(field);
		if (!this.#source.hasRepetition || this.#isEncodingCharacters(field)) return repetition === 0 ? raw : '';
		return nth(raw, this.#source.delimiters.repetition, repetition);
	}

	/** Subcomponent 0 stands for the whole component. */
	#part(field: number, component: number, repetition: number, subcomponent: number): string {
		if (this.#isEncodingCharacters(field)) return component === 1 && repetition === 0 && subcomponent <= 1 ? this.raw(field) : '';
		const { delimiters, hasSubcomponent } = this.#source;
		const part = nth(this.#repetition(field, repetition), delimiters.component, component - 1);
		if (subcomponent === 0) return part;
		if (!hasSubcomponent) return subcomponent === 1 ? part : '';
		return nth(part, delimiters.subcomponent, subcomponent - 1);
	}

	#decode(part: string): string {
		const source = this.#source;
		if (source.plain) return source.copies && part.length >= slicedLengthMin ? copyOf(part) : part;
		let text = part;
		let charset: Charset | undefined;
		if (hasNonAscii(text)) {
			charset = source.resolved().charset;
			text = charset.decode(text);
		}
		if (source.hasNul) text = text.replaceAll('\0', '');
		if (source.hasEscape && text.includes(source.delimiters.escape)) {
			text = unescapeText(text, source.delimiters, charset ?? source.resolved().charset);
		}
		return source.copies && text.length >= slicedLengthMin ? copyOf(text) : text;
	}
}

function copyOf(text: string): string {
	return hasNonAscii(text) ? Buffer.from(text, 'utf16le').toString('utf16le') : Buffer.from(text, 'latin1').toString('latin1');
}

function count(text: string, delimiter: string): number {
	let found = 1;
	if (delimiter === '') return found;
	for (let at = text.indexOf(delimiter); at !== -1; at = text.indexOf(delimiter, at + 1)) found += 1;
	return found;
}

/** The part `number` (from 0) of what `delimiter` separates; '' when there are fewer. */
function nth(text: string, delimiter: string, number: number): string {
	if (text === '' || number < 0) return '';
	if (delimiter === '') return number === 0 ? text : '';
	let start = 0;
	for (let left = number; left > 0; left--) {
		const next = text.indexOf(delimiter, start);
		if (next === -1) return '';
		start = next + 1;
	}
	const end = text.indexOf(delimiter, start);
	if (end === -1) return start === 0 ? text : text.slice(start);
	return text.slice(start, end);
}
