import { DataSetError, tagText, tooDeep } from './fault.ts';
import type { Encoding } from './transfer-syntax.ts';

/** A visitor's decision about an element. */
export const wish = {
	/** Its value is passed over without being kept; a sequence with everything in it. */
	skip: 0,
	/** Its value is collected; a sequence is entered. */
	take: 1,
	/** Nothing from here on. */
	stop: 2,
	/** Nothing from here on either, but the walk goes on to the end of the data set, which tells whether it is whole. */
	pass: 3,
	/** Its value is shown in pieces as it comes; no sequence. */
	show: 4,
} as const;
type Wish = (typeof wish)[keyof typeof wish];

/** Undefined length (PS3.5 §7.1). */
export const undefinedLength = 0xff_ff_ff_ff;

export interface DataSetVisitor {
	/**
	 * Called for every element outside skipped sequences. `tag` is group << 16 | element, unsigned; `vr` as written, or by
	 * `vrOf` in implicit VR. `length` is in bytes or `undefinedLength`, and says nothing of how much really follows.
	 */
	element(tag: number, vr: string, length: number): Wish;
	/** The value of an element that was to be taken; valid during the call. */
	value(tag: number, vr: string, bytes: Buffer, littleEndian: boolean): void;
	/** A piece of the value of an element that was to be shown; valid during the call. A visitor that shows nothing needs none. */
	piece?(bytes: Buffer): void;
	/** Around the items of a sequence that was entered, and after its last. Bulk data in fragments is never shown. */
	itemStart(): void;
	itemEnd(): void;
	sequenceEnd(): void;
	/** Value representation in implicit VR; `UN` when unknown. */
	vrOf(tag: number): string;
}

export interface WalkLimits {
	/** Bytes of headers that are read and of values that are taken; what is skipped or shown in pieces costs nothing. */
	bytesMax: number;
	depthMax: number;
}

const item = 0xff_fe_e0_00;
const itemDelimiter = 0xff_fe_e0_0d;
const sequenceDelimiter = 0xff_fe_e0_dd;

/** PS3.5 §7.1.2: these, and any that is not known yet, have two reserved bytes and a length of four. */
const shortVrs = 'AE AS AT CS DA DS DT FL FD IS LO LT PN SH SL SS ST TM UI UL US'.split(' ');
const longVrs = 'OB OD OF OL OV OW SQ SV UC UN UR UT UV'.split(' ');

function vrCode(vr: string): number {
	return (vr.charCodeAt(0) << 8) | vr.charCodeAt(1);
}

/** VRs by their two letters as a number. This is asked for every element, and a table answers faster than a map. */
const vrByCode: (string | undefined)[] = Array.from({ length: 0x1_00_00 });
const isShort = new Uint8Array(0x1_00_00);
for (const vr of [...shortVrs, ...longVrs]) vrByCode[vrCode(vr)] = vr;
for (const vr of shortVrs) isShort[vrCode(vr)] = 1;

/** Tells whether the length of such an element has two bytes in explicit VR (PS3.5 §7.1.2). */
export function isShortVr(vr: string): boolean {
	return isShort[vrCode(vr)] === 1;
}

type FrameKind = 'items' | 'fragments' | 'item';

/** A data set, a sequence or an item that is open. */
interface Frame {
	kind: FrameKind | 'data set';
	/** Offset from the first byte of the data set; Infinity where a delimiter ends it. */
	end: number;
	explicit: boolean;
	littleEndian: boolean;
	/** The visitor skips what is in it. */
	isMuted: boolean;
}

/**
 * Walks the elements of a data set whose bytes come in pieces (PS3.5 §7), without recursion and without keeping more than the
 * value that is being taken. A length is believed only as far as bytes to skip.
 */
export class ElementWalk {
	readonly #visitor: DataSetVisitor;
	readonly #limits: WalkLimits;
	readonly #frames: Frame[] = [];
	#frame: Frame;
	/** Bytes that were received of an element header that is not whole. */
	#rest: Buffer | undefined;
	/** A value that is being taken: its bytes so far, and what is to be done when it is whole. */
	#value: { tag: number; vr: string; bytes: Buffer; filled: number } | undefined;
	#skip = 0;
	/** Bytes of a value that are still to be shown. */
	#shown = 0;
	#hasShown = false;
	/** Offset of the first byte of the piece at hand. */
	#base = 0;
	#bytes = 0;
	#elements = 0;
	#isStopped = false;
	#isPassing = false;

	constructor(encoding: Encoding, visitor: DataSetVisitor, limits: WalkLimits) {
		this.#visitor = visitor;
		this.#limits = limits;
		const { explicit, littleEndian } = encoding;
		this.#frame = { kind: 'data set', end: Number.POSITIVE_INFINITY, explicit, littleEndian, isMuted: false };
	}

	/** True: the visitor wants no more. */
	get isStopped(): boolean {
		return this.#isStopped;
	}

	/** True: the visitor has asked for `pass`. */
	get isPassing(): boolean {
		return this.#isPassing;
	}

	/** The distance from the first byte of the data set to the next byte to read; after a stop, to the value of the element of the stop. */
	get offset(): number {
		return this.#base;
	}

	/**
	 * False: the visitor wants no more. The piece may be changed after the call.
	 * @throws DataSetError
	 */
	feed(piece: Buffer): boolean {
		let buffer = piece;
		if (this.#rest) {
			buffer = Buffer.concat([this.#rest, piece]);
			this.#rest = undefined;
		}
		let at = 0;
		while (!this.#isStopped) {
			at = this.#pass(buffer, at);
			if (at >= buffer.length && (this.#skip > 0 || this.#value || this.#shown > 0)) break;
			const frame = this.#frame;
			if (this.#base + at >= frame.end) {
				this.#close();
				continue;
			}
			const used = frame.kind === 'items' || frame.kind === 'fragments' ? this.#readItem(buffer, at) : this.#readElement(buffer, at);
			if (used === 0) break;
			at += used;
		}
		if (at < buffer.length && !this.#isStopped) this.#rest = Buffer.from(buffer.subarray(at));
		this.#base += at;
		return !this.#isStopped;
	}

	/** Takes bytes that would be skipped for fed, at most so many; returns how many they were. */
	passOver(most: number): number {
		const count = Math.min(this.#skip, most);
		this.#skip -= count;
		this.#base += count;
		return count;
	}

	/** The last byte was fed. @throws DataSetError when it ends within an element */
	end(): void {
		if (this.#isStopped) return;
		const rest = this.#rest !== undefined && !this.#isPadding(this.#rest);
		const isWithin = this.#skip > 0 || this.#shown > 0 || this.#value !== undefined || rest;
		if (isWithin) throw new DataSetError('truncated', 'the data set ends within an element');
		if (this.#frames.length > 0) throw new DataSetError('truncated', 'the data set ends within a sequence');
	}

	/**
	 * Some writers pad a data set to even length with zeros, which begin no element that may stand at the end. One of odd length was
	 * not padded: there the zeros are what is left of a header.
	 */
	#isPadding(rest: Buffer): boolean {
		return (this.#isPassing || this.#hasShown) && (this.#base + rest.length) % 2 === 0 && rest.every((byte) => byte === 0);
	}

	/** Passes over what is to be skipped, shows or collects what is wanted; where the next header begins. */
	#pass(buffer: Buffer, at: number): number {
		if (this.#skip > 0) {
			const count = Math.min(this.#skip, buffer.length - at);
			this.#skip -= count;
			return at + count;
		}
		if (this.#shown > 0) {
			const count = Math.min(this.#shown, buffer.length - at);
			if (count > 0) this.#visitor.piece?.(buffer.subarray(at, at + count));
			this.#shown -= count;
			return at + count;
		}
		const value = this.#value;
		if (!value) return at;
		const count = buffer.copy(value.bytes, value.filled, at, Math.min(buffer.length, at + value.bytes.length - value.filled));
		value.filled += count;
		if (value.filled === value.bytes.length) {
			this.#value = undefined;
			this.#visitor.value(value.tag, value.vr, value.bytes, this.#frame.littleEndian);
		}
		return at + count;
	}

	#close(): void {
		const { kind, isMuted } = this.#frame;
		const outer = this.#frames.pop();
		if (!outer) throw new DataSetError('structure', 'a delimiter ends nothing');
		this.#frame = outer;
		if (isMuted) return;
		if (kind === 'item') this.#visitor.itemEnd();
		else this.#visitor.sequenceEnd();
	}

	#open(kind: FrameKind, from: number, length: number, isMuted: boolean, as = this.#frame): void {
		if (this.#frames.length >= this.#limits.depthMax) throw new DataSetError('too-large', tooDeep);
		const end = length === undefinedLength ? Number.POSITIVE_INFINITY : from + length;
		this.#frames.push(this.#frame);
		this.#frame = { kind, end, explicit: as.explicit, littleEndian: as.littleEndian, isMuted };
	}

	#spend(bytes: number): void {
		// Elements that are passed over are neither kept nor shown, so they have no bound.
		if (this.#isPassing) return;
		this.#bytes += bytes;
		if (this.#bytes > this.#limits.bytesMax) throw new DataSetError('too-large', 'the elements before the pixel data are too large');
	}

	/** Against what is left of the innermost sequence or item of defined length. */
	#checkFits(from: number, length: number): void {
		if (from + length > this.#frame.end) throw new DataSetError('structure', 'an element is longer than the sequence that holds it');
	}

	#tagAt(buffer: Buffer, at: number): number {
		return this.#frame.littleEndian
			? buffer.readUInt16LE(at) * 0x1_00_00 + buffer.readUInt16LE(at + 2)
			: buffer.readUInt16BE(at) * 0x1_00_00 + buffer.readUInt16BE(at + 2);
	}

	#lengthAt(buffer: Buffer, at: number): number {
		return this.#frame.littleEndian ? buffer.readUInt32LE(at) : buffer.readUInt32BE(at);
	}

	/** Between items; gives the bytes read, 0 when the piece ends too soon. */
	#readItem(buffer: Buffer, at: number): number {
		if (buffer.length - at < 8) return 0;
		this.#spend(8);
		const frame = this.#frame;
		const tag = this.#tagAt(buffer, at);
		const length = this.#lengthAt(buffer, at + 4);
		const from = this.#base + at + 8;
		if (tag === sequenceDelimiter && frame.end === Number.POSITIVE_INFINITY) {
			this.#close();
			return 8;
		}
		if (tag !== item) throw new DataSetError('structure', 'a sequence holds something other than items');
		if (length !== undefinedLength) this.#checkFits(from, length);
		if (frame.kind === 'fragments') {
			if (length === undefinedLength) throw new DataSetError('structure', 'a fragment has no length');
			this.#skip = length;
		} else {
			this.#open('item', from, length, frame.isMuted);
			if (!frame.isMuted) this.#visitor.itemStart();
		}
		return 8;
	}

	#readElement(buffer: Buffer, at: number): number {
		if (buffer.length - at < 8) return 0;
		const tag = this.#tagAt(buffer, at);
		if (tag === itemDelimiter) {
			if (this.#frame.kind !== 'item' || this.#frame.end !== Number.POSITIVE_INFINITY) {
				throw new DataSetError('structure', 'a delimiter ends nothing');
			}
			this.#spend(8);
			this.#close();
			return 8;
		}
		if (tag >= item) throw new DataSetError('structure', 'an item lies outside a sequence');
		if (!this.#frame.explicit) {
			return this.#readImplicit(buffer, at, tag);
		}
		const code = buffer.readUInt16BE(at + 4);
		const vr = vrByCode[code] ?? this.#unknownVr(code);
		// The form follows from the code that stands for an unknown VR.
		if (isShort[code] === 1 || vr === 'LO') {
			const length = this.#frame.littleEndian ? buffer.readUInt16LE(at + 6) : buffer.readUInt16BE(at + 6);
			return this.#begin(buffer, at, 8, tag, vr, length);
		}
		if (buffer.length - at < 12) return 0;
		return this.#begin(buffer, at, 12, tag, vr, this.#lengthAt(buffer, at + 8));
	}

	/**
	 * In implicit VR the dictionary tells what is a sequence. Elements have changed their VR, and old writers use tags that got another meaning later:
	 * what does not begin with an item is no sequence, and nobody knows what it is.
	 */
	#readImplicit(buffer: Buffer, at: number, tag: number): number {
		const length = this.#lengthAt(buffer, at + 4);
		const vr = this.#visitor.vrOf(tag);
		if (vr !== 'SQ' || length === 0 || length === undefinedLength) return this.#begin(buffer, at, 8, tag, vr, length);
		if (length >= 8 && buffer.length - at < 12) return 0;
		return this.#begin(buffer, at, 8, tag, length >= 8 && this.#tagAt(buffer, at + 8) === item ? vr : 'UN', length);
	}

	/** A VR of a later edition is written in the long form; what cannot be a VR is met in the field in the short form. */
	#unknownVr(code: number): string {
		const isLetters = [code >> 8, code & 0xff].every((letter) => letter >= 0x41 && letter <= 0x5a);
		if (isLetters) return 'UN';
		if (this.#elements === 0) throw new DataSetError('encoding', 'the data set is not written in its transfer syntax');
		return 'LO';
	}

	#begin(buffer: Buffer, at: number, headerBytes: number, tag: number, vr: string, length: number): number {
		this.#elements += 1;
		this.#spend(headerBytes);
		const frame = this.#frame;
		let wanted: Wish = frame.isMuted || this.#isPassing ? wish.skip : this.#visitor.element(tag, vr, length);
		if (wanted === wish.pass) {
			this.#isPassing = true;
			wanted = wish.skip;
		}
		if (wanted === wish.stop) {
			this.#isStopped = true;
			return headerBytes;
		}
		const from = this.#base + at + headerBytes;
		if (length === undefinedLength) {
			this.#openUndefined(tag, vr, from, wanted === wish.skip);
			return headerBytes;
		}
		this.#checkFits(from, length);
		if (wanted === wish.skip) this.#skip = length;
		else if (wanted === wish.show) this.#show(length);
		else if (vr === 'SQ') this.#open('items', from, length, false);
		else return headerBytes + this.#takeValue(buffer, at + headerBytes, tag, vr, length);
		return headerBytes;
	}

	#show(length: number): void {
		this.#shown = length;
		this.#hasShown = true;
	}

	#openUndefined(tag: number, vr: string, from: number, isMuted: boolean): void {
		// UN of undefined length is a sequence in implicit VR little endian, whatever surrounds it (PS3.5 §6.2.2, note 2).
		if (vr === 'UN' && this.#frame.explicit) {
			this.#open('items', from, undefinedLength, isMuted, { ...this.#frame, explicit: false, littleEndian: true });
		} else if (vr === 'SQ' || vr === 'UN') this.#open('items', from, undefinedLength, isMuted);
		else if (vr === 'OB' || vr === 'OW') this.#open('fragments', from, undefinedLength, true);
		else throw new DataSetError('structure', `${tagText(tag)} has no length`);
	}

	#takeValue(buffer: Buffer, at: number, tag: number, vr: string, length: number): number {
		this.#spend(length);
		if (buffer.length - at >= length) {
			this.#visitor.value(tag, vr, buffer.subarray(at, at + length), this.#frame.littleEndian);
			return length;
		}
		this.#value = { tag, vr, bytes: Buffer.allocUnsafe(length), filled: 0 };
		return 0;
	}
}
