import { swapped, WordSwap, wordBytesOf } from './byte-order.ts';
import { standardVrOf } from './dictionary.ts';
import { type DataSetVisitor, ElementWalk, isShortVr, undefinedLength, wish } from './element-walk.ts';
import { EncodedOutput, explicitHeader, plainHeader } from './encoded-output.ts';
import { DataSetError, tagText } from './fault.ts';
import { type Encoding, encodingOf, implicitLittleEndian } from './transfer-syntax.ts';

/** As for every data set that is read. */
const depthMax = 64;
/** The largest even length of two bytes (PS3.5 §7.1.2). */
const shortLengthMax = 0xff_fe;
const item = 0xff_fe_e0_00;
const itemDelimiter = 0xff_fe_e0_0d;
const sequenceDelimiter = 0xff_fe_e0_dd;
const pixelData = 0x7fe0_0010;
const waveformData = 0x5400_1010;

/** Elements on which the VR of others depends (PS3.5 annex A). */
const deciding: ReadonlyMap<number, 'pixelRepresentation' | 'bitsAllocated' | 'waveformBits'> = new Map([
	[0x0028_0103, 'pixelRepresentation'],
	[0x0028_0100, 'bitsAllocated'],
	[0x5400_1004, 'waveformBits'],
]);

/** The data set, or an item. */
interface Level {
	/** The value of UN: implicit VR little endian in every transfer syntax (PS3.5 §6.2.2), and so written as it was read. */
	isOpaque: boolean;
	pixelRepresentation: number | undefined;
	bitsAllocated: number | undefined;
	waveformBits: number | undefined;
}

const opaque = encodingOf(implicitLittleEndian);

class Rewriter implements DataSetVisitor {
	readonly output = new EncodedOutput();
	readonly #from: Encoding;
	readonly #to: Encoding;
	readonly #levels: Level[] = [];
	/** For each sequence that is open: whether it is the value of UN. */
	readonly #sequences: boolean[] = [];
	#level: Level = { isOpaque: false, pixelRepresentation: undefined, bitsAllocated: undefined, waveformBits: undefined };
	#swap: WordSwap | undefined;

	constructor(from: Encoding, to: Encoding) {
		this.#from = from;
		this.#to = to;
	}

	vrOf(tag: number): string {
		const { pixelRepresentation, bitsAllocated, waveformBits } = this.#level;
		if (tag === pixelData) return bitsAllocated !== undefined && bitsAllocated <= 8 ? 'OB' : 'OW';
		if (tag === waveformData) return waveformBits !== undefined && waveformBits <= 8 ? 'OB' : 'OW';
		const vr = standardVrOf(tag);
		return vr === 'XS' ? (pixelRepresentation === 1 ? 'SS' : 'US') : vr;
	}

	element(tag: number, vr: string, length: number) {
		// Some writers pad the end of a data set with zeros, and longer padding looks like empty elements.
		if (tag === 0 && length === 0 && this.#levels.length === 0) return wish.skip;
		if (this.#levels.length === 0 && tag < 0x0004_0000) {
			throw new DataSetError('encoding', 'a command or file meta element lies in the data set');
		}
		if (this.#level.isOpaque) return this.#copied(tag, vr, length);
		// Group lengths are retired (PS3.5 §7.2), and would no longer be true.
		if ((tag & 0xff_ff) === 0) return wish.skip;
		if (vr === 'SQ' || length === undefinedLength) return this.#sequence(tag, vr, length);
		const size = wordBytesOf(vr);
		if (length % 2 !== 0) throw new DataSetError('structure', `${tagText(tag)} has an odd length`);
		if (length % size !== 0) throw new DataSetError('structure', `${tagText(tag)} does not hold whole values`);
		const isChanged = this.#begin(tag, vr, length) && size > 1 && this.#from.littleEndian !== this.#to.littleEndian;
		if (deciding.has(tag) && vr === 'US' && length === 2) return wish.take;
		this.#swap = isChanged ? new WordSwap(size) : undefined;
		return wish.show;
	}

	/** Inside the value of UN nothing is changed but the lengths of what is nested. */
	#copied(tag: number, vr: string, length: number) {
		this.output.write(plainHeader(tag, length, opaque));
		if (length === undefinedLength) {
			if (vr !== 'SQ' && vr !== 'UN') throw encapsulated(tag);
			this.#sequences.push(true);
			return wish.take;
		}
		this.#swap = undefined;
		return wish.show;
	}

	#sequence(tag: number, vr: string, length: number) {
		if (vr !== 'SQ' && vr !== 'UN') throw encapsulated(tag);
		// An element without length and VR is a sequence; one of VR UN holds implicit VR, whatever surrounds it (PS3.5 §6.2.2).
		const isOpaque = vr === 'UN' && this.#from.explicit;
		const writtenLength = length === 0 ? 0 : undefinedLength;
		const own = isOpaque ? 'UN' : 'SQ';
		this.output.write(
			this.#to.explicit ? explicitHeader(tag, own, writtenLength, true, this.#to) : plainHeader(tag, writtenLength, this.#to),
		);
		if (length === 0) return wish.skip;
		this.#sequences.push(isOpaque);
		return wish.take;
	}

	/** Writes the header; false: what follows is written as UN, in little endian. */
	#begin(tag: number, vr: string, length: number): boolean {
		const { explicit } = this.#to;
		const isShort = isShortVr(vr);
		// PS3.5 §6.2.2: a value that is too long for the two bytes of its length is UN.
		const isTooLong = explicit && isShort && length > shortLengthMax;
		if (!explicit) this.output.write(plainHeader(tag, length, this.#to));
		else if (isTooLong) this.output.write(explicitHeader(tag, 'UN', length, true, this.#to));
		else this.output.write(explicitHeader(tag, vr, length, !isShort, this.#to));
		return !isTooLong;
	}

	value(tag: number, vr: string, bytes: Buffer, littleEndian: boolean): void {
		const name = deciding.get(tag);
		if (name !== undefined) this.#level[name] = littleEndian ? bytes.readUInt16LE(0) : bytes.readUInt16BE(0);
		this.output.write(littleEndian === this.#to.littleEndian ? Buffer.from(bytes) : swapped(bytes, wordBytesOf(vr)));
	}

	piece(bytes: Buffer): void {
		this.output.write(this.#swap ? this.#swap.feed(bytes) : bytes);
	}

	itemStart(): void {
		const isOpaque = this.#sequences.at(-1) ?? false;
		this.#levels.push(this.#level);
		// An item takes from around it whatever it does not say itself.
		this.#level = { ...this.#level, isOpaque };
		this.#write(item, undefinedLength, isOpaque);
	}

	itemEnd(): void {
		const { isOpaque } = this.#level;
		this.#level = this.#levels.pop() ?? this.#level;
		this.#write(itemDelimiter, 0, isOpaque);
	}

	sequenceEnd(): void {
		this.#write(sequenceDelimiter, 0, this.#sequences.pop() ?? false);
	}

	#write(tag: number, length: number, isOpaque: boolean): void {
		this.output.write(plainHeader(tag, length, isOpaque ? opaque : this.#to));
	}
}

function encapsulated(tag: number): DataSetError {
	return new DataSetError('structure', `${tagText(tag)} comes in fragments, which an uncompressed transfer syntax does not have`);
}

/**
 * Writes a data set anew in another uncompressed encoding (PS3.5 annex A) while it arrives. Sequences and items get undefined lengths, so
 * that nothing is kept but the header at hand. Group lengths are left out; every other element keeps its value. What was deflated has to
 * be inflated before, and what is to be deflated is deflated after.
 */
export class DataSetConverter {
	readonly #rewriter: Rewriter;
	readonly #walk: ElementWalk;

	constructor(from: string, to: string) {
		const encoding = encodingOf(from);
		this.#rewriter = new Rewriter(encoding, encodingOf(to));
		this.#walk = new ElementWalk(encoding, this.#rewriter, { bytesMax: Number.POSITIVE_INFINITY, depthMax });
	}

	/** Returns what the chunk comes to; it may hold parts of the chunk itself. @throws DataSetError */
	feed(chunk: Uint8Array): Buffer[] {
		this.#walk.feed(Buffer.isBuffer(chunk) ? chunk : Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength));
		return this.#rewriter.output.take();
	}

	/** Called after the last chunk. @throws DataSetError when it ends within an element */
	end(): void {
		this.#walk.end();
	}
}
