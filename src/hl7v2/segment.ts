import { Failure } from '#core/failure.ts';
import { type Charset, hasNonAscii, type ResolvedCharset } from './charset.ts';
import { withoutControls, withoutPadding } from './control-characters.ts';
import type { Delimiters } from './delimiters.ts';
import { unescapeText } from './escape.ts';
import { DelimiterScan } from './scan.ts';

/** A text that holds segments, one character for each byte, with the searches in it. */
export class ScannedText {
	readonly text: string;
	readonly repetition: DelimiterScan;
	readonly component: DelimiterScan;
	readonly subcomponent: DelimiterScan;
	readonly escape: DelimiterScan;

	/** True when the text is part of a large one. Strings read from it are copied, so that they do not keep the large one in memory. */
	readonly copies: boolean;

	constructor(text: string, delimiters: Delimiters, copies: boolean) {
		this.text = text;
		this.copies = copies;
		this.repetition = new DelimiterScan(text, delimiters.repetition);
		this.component = new DelimiterScan(text, delimiters.component);
		this.subcomponent = new DelimiterScan(text, delimiters.subcomponent);
		this.escape = new DelimiterScan(text, delimiters.escape);
	}
}

/** The data that the segments of a message share. */
export interface Source {
	readonly delimiters: Delimiters;
	/** True when the message is ASCII without NUL, so that values need no decoding. */
	readonly plain: boolean;
	readonly hasNul: boolean;
	/** Control characters are replaced; otherwise NUL is left out, which no column can hold. */
	readonly replacesControls?: boolean;
	/** Set when control characters of a value were replaced. */
	hasReplaced?: boolean;
	/** The largest number of repetitions in a field that is read. */
	readonly repetitionsMax: number;
	resolved(): ResolvedCharset;
	sequenceOf(segment: Segment): number;
}

/** A string that was read may keep a text of up to this size in memory. From a larger text every string is a copy. */
export const sharedTextMax = 16 * 1024;
/** V8 copies substrings shorter than this anyway; longer ones point into their parent and keep it alive. */
const slicedLengthMin = 13;

const quote = 0x22;
const nullValue = '""';

/** One segment. Fields are found at their first access and decoded when they are read. Numbers are the standard's, from 1. */
export class Segment {
	readonly id: string;
	/** Position in the message, from 0. */
	readonly index: number;
	readonly #source: Source;
	readonly #scanned: ScannedText;
	readonly #start: number;
	readonly #end: number;
	/** Piece n, between two field separators, begins at `#offsets[n]`; the first `#found` of them are known. */
	#offsets: number[] | undefined;
	#found = 1;
	/** MSH-1 is the separator itself, so its fields stand one piece earlier. */
	readonly #shift: number;
	/** The part found last, from and to. */
	#from = 0;
	#to = 0;

	constructor(source: Source, scanned: ScannedText, id: string, index: number, start: number, end: number) {
		this.id = id;
		this.index = index;
		this.#source = source;
		this.#scanned = scanned;
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
		return this.#scanned.text.slice(this.#start, this.#end);
	}

	/** The field as sent: bytes as Latin-1, delimiters and escapes untouched; '' when absent. */
	raw(field: number): string {
		if (this.#shift === 1 && field === 1) return this.#source.delimiters.field;
		return this.#findField(field) ? this.#scanned.text.slice(this.#from, this.#to) : '';
	}

	isPresent(field: number): boolean {
		return (this.#shift === 1 && field === 1) || this.#findField(field);
	}

	/** The field is exactly `""`: the sender asks to delete the value. */
	isNull(field: number): boolean {
		return this.#findField(field) && this.#isNullPart();
	}

	isComponentNull(field: number, component: number, repetition = 0): boolean {
		return this.#findComponent(field, component, repetition) && this.#isNullPart();
	}

	/** Decoded and unescaped; '' when absent or `""`. `repetition` counts from 0, component and subcomponent from 1. */
	text(field: number, component = 1, repetition = 0, subcomponent = 1): string {
		if (this.#isHeaderField(field)) return component === 1 && repetition === 0 && subcomponent === 1 ? this.raw(field) : '';
		const number = field - this.#shift;
		if (number < 1) return '';
		const offsets = this.#found > number + 1 ? this.#offsets : this.#findOffsets(number + 1);
		if (offsets === undefined) return '';
		const scanned = this.#scanned;
		const start = offsets[number] as number;
		const end = (offsets[number + 1] as number) - 1;
		if (start >= end) return '';
		const { repetition: repetitions, component: components, subcomponent: subcomponents } = scanned;
		if (!repetitions.part(start, end, repetition)) return '';
		if (!components.part(repetitions.from, repetitions.to, component - 1)) return '';
		if (!subcomponents.part(components.from, components.to, subcomponent - 1)) return '';
		const { from, to } = subcomponents;
		const { text } = scanned;
		if (to - from === 2 && text.charCodeAt(from) === quote && text.charCodeAt(from + 1) === quote) return '';
		const escaped = scanned.escape.next(from) < to;
		const part = text.slice(from, to);
		if (!escaped && this.#source.plain && !scanned.copies) return part;
		return this.#finish(part, escaped);
	}

	/**
	 * A component of a type without subcomponents: a delimiter of subcomponents in it is content that the sender did not escape, and stays. Decoded and
	 * unescaped; '' when absent or `""`.
	 */
	whole(field: number, component = 1, repetition = 0): string {
		return this.#findComponent(field, component, repetition) ? this.#decode() : '';
	}

	/** All of a repetition from a component on, decoded and unescaped, delimiters left in; '' when absent or `""`. */
	displayFrom(field: number, component: number, repetition: number): string {
		if (!this.#findField(field) || !this.#narrow(this.#scanned.repetition, repetition)) return '';
		const end = this.#to;
		const { component: components } = this.#scanned;
		// A component may be empty while later ones are not.
		if (components.count(this.#from, end) < component) return '';
		components.part(this.#from, end, component - 1);
		this.#from = components.from;
		this.#to = end;
		return this.#decode();
	}

	/** The whole field, or one repetition of it, decoded and unescaped, delimiters left in; '' when absent or `""`. */
	display(field: number, repetition?: number): string {
		if (this.#isHeaderField(field)) return repetition === undefined || repetition === 0 ? this.raw(field) : '';
		if (!this.#findField(field)) return '';
		return repetition === undefined || this.#narrow(this.#scanned.repetition, repetition) ? this.#decode() : '';
	}

	/**
	 * 0 when the field is absent.
	 * @throws Failure `value-too-long` when there are more than the message may have
	 */
	repetitions(field: number): number {
		if (this.#isHeaderField(field)) return this.isPresent(field) ? 1 : 0;
		const count = this.#findField(field) ? this.#scanned.repetition.count(this.#from, this.#to) : 0;
		const { repetitionsMax } = this.#source;
		if (count <= repetitionsMax) return count;
		throw new Failure('value-too-long', `${this.id}-${field} has more than ${repetitionsMax} repetitions`, {
			location: { segment: this.id, sequence: this.sequence, field },
		});
	}

	/** 0 when the field or the repetition is absent. */
	components(field: number, repetition = 0): number {
		if (this.#isHeaderField(field)) return this.isPresent(field) && repetition === 0 ? 1 : 0;
		const found = this.#findField(field) && this.#narrow(this.#scanned.repetition, repetition);
		return found ? this.#scanned.component.count(this.#from, this.#to) : 0;
	}

	/** 0 when the component is absent. */
	subcomponents(field: number, component: number, repetition = 0): number {
		if (!this.#findComponent(field, component, repetition)) return 0;
		return this.#isHeaderField(field) ? 1 : this.#scanned.subcomponent.count(this.#from, this.#to);
	}

	/** MSH-1 and MSH-2 hold delimiters and are split by none. */
	#isHeaderField(field: number): boolean {
		return this.#shift === 1 && field <= 2;
	}

	#isNullPart(): boolean {
		const { text } = this.#scanned;
		return this.#to - this.#from === 2 && text.charCodeAt(this.#from) === quote && text.charCodeAt(this.#from + 1) === quote;
	}

	/** Selects a field; returns false when it is empty or absent. */
	#findField(field: number): boolean {
		const number = field - this.#shift;
		if (number < 1) return false;
		const offsets = this.#found > number + 1 ? this.#offsets : this.#findOffsets(number + 1);
		if (offsets === undefined) return false;
		this.#from = offsets[number] as number;
		this.#to = (offsets[number + 1] as number) - 1;
		return this.#from < this.#to;
	}

	/** Extends the offsets up to one; returns undefined when the segment ends before. */
	#findOffsets(wanted: number): number[] | undefined {
		// There is room for the usual segment, because an array that grows is copied each time.
		this.#offsets ??= [this.#start, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0];
		const offsets = this.#offsets;
		const { text } = this.#scanned;
		const end = this.#end;
		const separator = this.#source.delimiters.field;
		let found = this.#found;
		let last = offsets[found - 1] as number;
		while (found <= wanted && last <= end) {
			const at = text.indexOf(separator, last);
			last = at === -1 || at > end ? end + 1 : at + 1;
			offsets[found] = last;
			found += 1;
		}
		this.#found = found;
		return found > wanted ? offsets : undefined;
	}

	#findComponent(field: number, component: number, repetition: number): boolean {
		if (this.#isHeaderField(field)) return component === 1 && repetition === 0 && this.isPresent(field);
		if (!this.#findField(field)) return false;
		const { repetition: repetitions, component: components } = this.#scanned;
		return this.#narrow(repetitions, repetition) && this.#narrow(components, component - 1);
	}

	/** Narrows the selection to one of the parts that a delimiter separates; returns false when that is empty or absent. */
	#narrow(scan: DelimiterScan, number: number): boolean {
		if (!scan.part(this.#from, this.#to, number)) return false;
		this.#from = scan.from;
		this.#to = scan.to;
		return true;
	}

	#decode(): string {
		if (this.#isNullPart()) return '';
		const scanned = this.#scanned;
		return this.#finish(scanned.text.slice(this.#from, this.#to), scanned.escape.next(this.#from) < this.#to);
	}

	#finish(part: string, escaped: boolean): string {
		const value = escaped || !this.#source.plain ? this.#interpret(part, escaped) : part;
		return this.#scanned.copies && value.length >= slicedLengthMin ? copyOf(value) : value;
	}

	#replaced(part: string): string {
		const text = withoutPadding(part);
		const replaced = withoutControls(text);
		if (replaced !== text) this.#source.hasReplaced = true;
		return replaced;
	}

	#interpret(part: string, escaped: boolean): string {
		const source = this.#source;
		let text = part;
		let charset: Charset | undefined;
		if (!source.plain && hasNonAscii(text)) {
			charset = source.resolved().charset;
			text = charset.decode(text);
		}
		if (source.replacesControls) text = this.#replaced(text);
		else if (source.hasNul) text = text.replaceAll('\0', '');
		if (escaped) text = unescapeText(text, source.delimiters, charset ?? source.resolved().charset);
		return text === nullValue && !escaped ? '' : text;
	}
}

function copyOf(text: string): string {
	return hasNonAscii(text) ? Buffer.from(text, 'utf16le').toString('utf16le') : Buffer.from(text, 'latin1').toString('latin1');
}
