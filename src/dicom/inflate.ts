/**
 * DEFLATE (RFC 1951) in pieces and with a bound. zlib's synchronous calls give all of the output or none, and a few hundred bytes
 * may stand for a megabyte; here whoever takes the output says when it is enough.
 */

const lengthBase = [3, 4, 5, 6, 7, 8, 9, 10, 11, 13, 15, 17, 19, 23, 27, 31, 35, 43, 51, 59, 67, 83, 99, 115, 131, 163, 195, 227, 258];
const lengthExtra = [0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3, 4, 4, 4, 4, 5, 5, 5, 5, 0];
const distanceBase = [
	1, 2, 3, 4, 5, 7, 9, 13, 17, 25, 33, 49, 65, 97, 129, 193, 257, 385, 513, 769, 1025, 1537, 2049, 3073, 4097, 6145, 8193, 12_289, 16_385,
	24_577,
];
const distanceExtra = [0, 0, 0, 0, 1, 1, 2, 2, 3, 3, 4, 4, 5, 5, 6, 6, 7, 7, 8, 8, 9, 9, 10, 10, 11, 11, 12, 12, 13, 13];
const codeLengthOrder = [16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15];

/** RFC 1951 §2 */
const windowBytes = 32_768;
/** A buffer size. */
const pieceBytes = 16_384;
/** RFC 1951 §3.2.5 */
const longestCopy = 258;
/** RFC 1951 §3.2.3 */
const endOfBlock = 256;

/** Thrown inside when the input ends within a symbol; the symbol is read again when there is more. */
const needsMore = Symbol('more input');

/** The bytes are not DEFLATE. */
export class InflateError extends Error {
	override readonly name = 'InflateError';
}

/** A canonical Huffman code: how many symbols each length has, and the symbols in order of their codes. */
interface Code {
	counts: Uint16Array;
	symbols: Uint16Array;
}

/** As in zlib a code is complete; but one of no symbol, or of a single one, is taken where it encodes values. */
function codeOf(lengths: Uint8Array, encodes: 'values' | 'lengths' = 'values'): Code {
	const counts = new Uint16Array(16);
	for (const length of lengths) counts[length] = (counts[length] as number) + 1;
	let left = 1;
	for (let length = 1; length < 16; length++) {
		left = left * 2 - (counts[length] as number);
		if (left < 0) throw new InflateError('a code has more symbols than fit');
	}
	if (left > 0 && (encodes === 'lengths' || lengths.some((length) => length > 1))) throw new InflateError('a code has too few symbols');
	const offsets = new Uint16Array(16);
	for (let length = 1; length < 15; length++) offsets[length + 1] = (offsets[length] as number) + (counts[length] as number);
	const symbols = new Uint16Array(lengths.length);
	for (const [symbol, length] of lengths.entries()) {
		if (length === 0) continue;
		symbols[offsets[length] as number] = symbol;
		offsets[length] = (offsets[length] as number) + 1;
	}
	return { counts, symbols };
}

const fixedLengths = Uint8Array.from({ length: 288 }, (_, symbol) => (symbol < 144 ? 8 : symbol < 256 ? 9 : symbol < 280 ? 7 : 8));
const fixedLiterals = codeOf(fixedLengths);
const fixedDistances = codeOf(new Uint8Array(32).fill(5));

type State = 'block' | 'stored' | 'symbols' | 'end';

export class Inflate {
	readonly #take: (piece: Buffer) => boolean;
	#input: Buffer = Buffer.alloc(0);
	#at = 0;
	#bits = 0;
	#bitCount = 0;
	#state: State = 'block';
	#isLast = false;
	#storedLeft = 0;
	#literals = fixedLiterals;
	#distances = fixedDistances;
	/** Up to 32 KiB that were given out, then what was made since. */
	readonly #output = Buffer.alloc(windowBytes + pieceBytes + longestCopy);
	#history = 0;
	#made = 0;

	/** `take` gets the output in pieces of about 16 KiB, valid during the call, and answers whether it wants more. */
	constructor(take: (piece: Buffer) => boolean) {
		this.#take = take;
	}

	/** The last block was read, or enough was taken. */
	get ended(): boolean {
		return this.#state === 'end';
	}

	/** @throws InflateError */
	feed(chunk: Uint8Array): void {
		if (this.ended) return;
		const rest = this.#input.subarray(this.#at);
		this.#input = Buffer.concat([rest, chunk]);
		this.#at = 0;
		try {
			while (!this.ended && this.#advance()) if (this.#made >= pieceBytes) this.#give();
		} catch (error) {
			// Damage behind what is wanted does no harm, in whatever pieces the input came.
			if (error instanceof InflateError && this.#made > 0) this.#give();
			if (!this.ended) throw error;
		}
		if (this.#made > 0) this.#give();
	}

	/** One block header, one symbol, or what there is of a stored block; false and nothing read when the input ends within it. */
	#advance(): boolean {
		const at = this.#at;
		const bits = this.#bits;
		const bitCount = this.#bitCount;
		try {
			if (this.#state === 'block') this.#readBlock();
			else if (this.#state === 'stored') return this.#copyStored();
			else this.#readSymbol();
			return true;
		} catch (error) {
			if (error !== needsMore) throw error;
			this.#at = at;
			this.#bits = bits;
			this.#bitCount = bitCount;
			return false;
		}
	}

	#give(): void {
		const end = this.#history + this.#made;
		const goesOn = this.#take(this.#output.subarray(this.#history, end));
		this.#history = Math.min(end, windowBytes);
		this.#output.copyWithin(0, end - this.#history, end);
		this.#made = 0;
		if (!goesOn) this.#state = 'end';
	}

	#read(count: number): number {
		while (this.#bitCount < count) {
			if (this.#at >= this.#input.length) throw needsMore;
			this.#bits |= (this.#input[this.#at++] as number) << this.#bitCount;
			this.#bitCount += 8;
		}
		const value = this.#bits & ((1 << count) - 1);
		this.#bits >>>= count;
		this.#bitCount -= count;
		return value;
	}

	#decode({ counts, symbols }: Code): number {
		let code = 0;
		let first = 0;
		let index = 0;
		for (let length = 1; length < 16; length++) {
			code |= this.#read(1);
			const count = counts[length] as number;
			if (code - count < first) return symbols[index + code - first] as number;
			index += count;
			first = (first + count) << 1;
			code <<= 1;
		}
		throw new InflateError('no symbol has this code');
	}

	#readBlock(): void {
		const isLast = this.#read(1) === 1;
		const kind = this.#read(2);
		if (kind === 3) throw new InflateError('no such kind of block');
		if (kind === 0) this.#readStored();
		else {
			if (kind === 2) this.#readCodes();
			else {
				this.#literals = fixedLiterals;
				this.#distances = fixedDistances;
			}
			this.#state = 'symbols';
		}
		this.#isLast = isLast;
	}

	#readStored(): void {
		this.#read(this.#bitCount & 7);
		const length = this.#read(16);
		if ((this.#read(16) ^ 0xff_ff) !== length) throw new InflateError('the length of a stored block is damaged');
		this.#storedLeft = length;
		this.#state = 'stored';
	}

	#readCodes(): void {
		const literalCount = this.#read(5) + 257;
		const distanceCount = this.#read(5) + 1;
		const lengthCount = this.#read(4) + 4;
		if (literalCount > 286 || distanceCount > 30) throw new InflateError('too many symbols');
		const codeLengths = new Uint8Array(19);
		for (let index = 0; index < lengthCount; index++) codeLengths[codeLengthOrder[index] as number] = this.#read(3);
		const code = codeOf(codeLengths, 'lengths');
		const lengths = new Uint8Array(literalCount + distanceCount);
		for (let index = 0; index < lengths.length; ) {
			const symbol = this.#decode(code);
			if (symbol < 16) {
				lengths[index++] = symbol;
				continue;
			}
			if (symbol === 16 && index === 0) throw new InflateError('nothing to repeat');
			const value = symbol === 16 ? (lengths[index - 1] as number) : 0;
			const times = symbol === 16 ? 3 + this.#read(2) : symbol === 17 ? 3 + this.#read(3) : 11 + this.#read(7);
			if (index + times > lengths.length) throw new InflateError('a repetition is too long');
			lengths.fill(value, index, index + times);
			index += times;
		}
		if (lengths[endOfBlock] === 0) throw new InflateError('a block has no end');
		this.#literals = codeOf(lengths.subarray(0, literalCount));
		this.#distances = codeOf(lengths.subarray(literalCount));
	}

	#copyStored(): boolean {
		// Bits that were read ahead are whole bytes here.
		while (this.#storedLeft > 0 && this.#bitCount > 0 && this.#made < pieceBytes) {
			this.#put(this.#read(8));
			this.#storedLeft -= 1;
		}
		const count = Math.min(this.#storedLeft, this.#input.length - this.#at, pieceBytes - this.#made);
		this.#input.copy(this.#output, this.#history + this.#made, this.#at, this.#at + count);
		this.#at += count;
		this.#made += count;
		this.#storedLeft -= count;
		if (this.#storedLeft === 0) this.#endBlock();
		return this.#storedLeft === 0 || this.#made >= pieceBytes;
	}

	#put(byte: number): void {
		this.#output[this.#history + this.#made++] = byte;
	}

	#endBlock(): void {
		this.#state = this.#isLast ? 'end' : 'block';
	}

	#readSymbol(): void {
		const symbol = this.#decode(this.#literals);
		if (symbol < 256) this.#put(symbol);
		else if (symbol === endOfBlock) this.#endBlock();
		else this.#copyEarlier(symbol - 257);
	}

	#copyEarlier(lengthIndex: number): void {
		if (lengthIndex >= lengthBase.length) throw new InflateError('no such length');
		const length = (lengthBase[lengthIndex] as number) + this.#read(lengthExtra[lengthIndex] as number);
		const distanceIndex = this.#decode(this.#distances);
		if (distanceIndex >= distanceBase.length) throw new InflateError('no such distance');
		const distance = (distanceBase[distanceIndex] as number) + this.#read(distanceExtra[distanceIndex] as number);
		const to = this.#history + this.#made;
		if (distance > to) throw new InflateError('a distance reaches before the beginning');
		for (let index = 0; index < length; index++) this.#output[to + index] = this.#output[to + index - distance] as number;
		this.#made += length;
	}
}
