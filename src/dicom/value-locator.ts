import { DataSetFeed } from './data-set-feed.ts';
import { standardVrOf } from './dictionary.ts';
import { type DataSetVisitor, undefinedLength, wish } from './element-walk.ts';
import { tagOf } from './elements.ts';
import type { DataSetFault } from './fault.ts';
import { integerOf } from './values.ts';

/** The attributes of an image that tell how its pixel data is cut into frames; undefined if the data set does not state them. */
export interface ImageShape {
	rows: number | undefined;
	columns: number | undefined;
	samplesPerPixel: number | undefined;
	bitsAllocated: number | undefined;
	/** (0028,0004) */
	photometric?: string | undefined;
	/** (0028,0008); 1 where it is absent. */
	frames: number;
}

export interface LocatedValue {
	vr: string;
	/** Counted from the first byte of the data set; if it is deflated, from the first byte that it inflates to. */
	offset: number;
	/** Bytes; undefined: fragments follow (PS3.5 §A.4), up to a delimiter. */
	length: number | undefined;
}

/** `located` is undefined where the data set has no such element. */
export type LocatorResult = { located: LocatedValue | undefined; shape: ImageShape } | { fault: DataSetFault };

/** Tags, with the number (from 1) of an item between a sequence and what lies in it. */
export type ValuePath = readonly number[];

const pathPattern = /^[0-9A-F]{8}(?:\.[1-9]\d{0,8}\.[0-9A-F]{8}){0,32}$/;

/** `7FE00010`, `00081140.1.00091010`; undefined for anything else. */
export function parseValuePath(text: string): ValuePath | undefined {
	if (!pathPattern.test(text)) return undefined;
	return text.split('.').map((part, index) => (index % 2 === 0 ? Number.parseInt(part, 16) : Number(part)));
}

const shapeTags: ReadonlyMap<number, 'samplesPerPixel' | 'rows' | 'columns' | 'bitsAllocated'> = new Map([
	[0x0028_0002, 'samplesPerPixel'],
	[tagOf('Rows'), 'rows'],
	[tagOf('Columns'), 'columns'],
	[0x0028_0100, 'bitsAllocated'],
]);
const numberOfFrames = tagOf('NumberOfFrames');
const photometricInterpretation = 0x0028_0004;
const shapeElements: ReadonlySet<number> = new Set([...shapeTags.keys(), numberOfFrames, photometricInterpretation]);
/** These elements are numbers of some bytes, and a word. A longer value is none of them. */
const shapeBytesMax = 64;

class Seeker implements DataSetVisitor {
	found: { vr: string; length: number | undefined } | undefined;
	readonly numbers: Partial<Record<'samplesPerPixel' | 'rows' | 'columns' | 'bitsAllocated', number>> = {};
	frames = 1;
	photometric: string | undefined;
	readonly #path: ValuePath;
	/** The number of the current item of each sequence that was entered. */
	readonly #items: number[] = [];
	/** Items that are open. */
	#depth = 0;

	constructor(path: ValuePath) {
		this.#path = path;
	}

	vrOf(tag: number): string {
		return standardVrOf(tag);
	}

	element(tag: number, vr: string, length: number) {
		const level = this.#items.length;
		if (level === 0 && shapeElements.has(tag) && length <= shapeBytesMax && tag !== this.#path[0]) return wish.take;
		const isOnTheWay = this.#depth === level && (level === 0 || this.#items[level - 1] === this.#path[2 * level - 1]);
		if (isOnTheWay && tag === this.#path[2 * level]) {
			if (2 * level + 1 === this.#path.length) {
				this.found = { vr, length: length === undefinedLength ? undefined : length };
				return wish.stop;
			}
			if (vr === 'SQ' || (vr === 'UN' && length === undefinedLength)) {
				this.#items.push(0);
				return wish.take;
			}
		}
		// Elements stand in the order of their tags (PS3.5 §7.1); what is sought would have come before.
		return level === 0 && tag > (this.#path[0] ?? 0) ? wish.stop : wish.skip;
	}

	value(tag: number, _vr: string, bytes: Buffer, littleEndian: boolean): void {
		if (tag === numberOfFrames) this.frames = Math.max(1, integerOf(bytes.toString('latin1')) ?? 1);
		if (tag === photometricInterpretation) this.photometric = bytes.toString('latin1').replaceAll('\0', ' ').trim();
		const name = shapeTags.get(tag);
		if (name !== undefined && bytes.length >= 2) this.numbers[name] = littleEndian ? bytes.readUInt16LE(0) : bytes.readUInt16BE(0);
	}

	itemStart(): void {
		this.#depth += 1;
		const last = this.#items.length - 1;
		this.#items[last] = (this.#items[last] ?? 0) + 1;
	}

	itemEnd(): void {
		this.#depth -= 1;
	}

	sequenceEnd(): void {
		this.#items.pop();
	}
}

/** Finds where in a data set the value of one element lies, while the bytes arrive. */
export class ValueLocator {
	readonly #seeker: Seeker;
	readonly #feed: DataSetFeed;

	/** `bytesMax`: element headers, and everything up to the value in a deflated data set. */
	constructor(transferSyntaxUid: string, path: ValuePath, bytesMax: number) {
		this.#seeker = new Seeker(path);
		this.#feed = new DataSetFeed(transferSyntaxUid, this.#seeker, bytesMax);
	}

	/** True: wants more. The chunk is not kept. */
	feed(chunk: Uint8Array): boolean {
		return this.#feed.feed(chunk);
	}

	/** Called once, when there is no more to feed. */
	end(): LocatorResult {
		const fault = this.#feed.end();
		const { found, numbers, frames, photometric } = this.#seeker;
		if (fault && !found) return { fault };
		const { rows, columns, samplesPerPixel, bitsAllocated } = numbers;
		const shape = { rows, columns, samplesPerPixel, bitsAllocated, frames, ...(photometric !== undefined && { photometric }) };
		return { located: found && { ...found, offset: this.#feed.offset }, shape };
	}
}
