import { type CharacterSet, characterSetOf, defaultCharacterSet } from './character-set.ts';
import { DataSetFeed } from './data-set-feed.ts';
import { standardVrOf } from './dictionary.ts';
import { type DataSetVisitor, undefinedLength, wish } from './element-walk.ts';
import { tagOf } from './elements.ts';
import type { DataSetFault } from './fault.ts';
import { numbersOf } from './json-model.ts';
import { keywordOf } from './keywords.ts';
import { tagKey } from './tag-key.ts';

/** One element of a data set as people read it. */
export interface ListedTag {
	/** Eight hexadecimal digits, behind the tags and item numbers that lead to it: `00081140.1.00081155`. */
	path: string;
	vr: string;
	/** The keyword of PS3.6; empty for a private element and one that DICOM does not know. */
	keyword: string;
	/** Several values are separated by `\`. A value of bytes shows its first ones in hexadecimal digits. */
	value: string;
	/** Bytes of the value; null where a delimiter ends it. */
	length: number | null;
	/** The value is longer than what is shown of it. */
	cut: boolean;
	/** The name under which the block of a private element is reserved (PS3.5 §7.8); null for a standard element. */
	creator: string | null;
}

export interface TagListing {
	tags: ListedTag[];
	/** The fault for which the list ends before the pixel data; undefined where it does not. */
	fault: DataSetFault | undefined;
	/** The list has as many elements as one may have, and the data set more. */
	isFull: boolean;
}

/** Nobody looks through more elements. */
const tagsMax = 20_000;
const textCharactersMax = 4096;
const shownBytes = 32;
const pixelGroup = 0x7f_e0;
const specificCharacterSet = tagOf('SpecificCharacterSet');
const pixelRepresentation = 0x0028_0103;
const encodedVrs: ReadonlySet<string> = new Set('LO LT PN SH ST UC UT'.split(' '));
const binaryVrs: ReadonlySet<string> = new Set('OB OD OF OL OV OW UN'.split(' '));

interface Level {
	path: string;
	characterSet: CharacterSet;
	creators: Map<number, string>;
	sequence: { path: string; items: number } | undefined;
}

class Lister implements DataSetVisitor {
	readonly tags: ListedTag[] = [];
	isFull = false;
	readonly #outer: Level[] = [];
	#level: Level = { path: '', characterSet: defaultCharacterSet, creators: new Map(), sequence: undefined };
	#isSigned = false;
	#at: ListedTag | undefined;

	vrOf(tag: number): string {
		const vr = standardVrOf(tag);
		return vr === 'XS' ? (this.#isSigned ? 'SS' : 'US') : vr;
	}

	element(tag: number, vr: string, length: number) {
		const group = Math.floor(tag / 0x1_00_00);
		if ((tag & 0xff_ff) === 0) return wish.skip;
		if (this.tags.length >= tagsMax) {
			this.isFull = true;
			return wish.stop;
		}
		const isSequence = vr === 'SQ' || (vr === 'UN' && length === undefinedLength);
		const known = length === undefinedLength ? null : length;
		const path = this.#level.path + tagKey(tag);
		this.#at = {
			path,
			vr: isSequence ? 'SQ' : vr,
			keyword: keywordOf(tag),
			value: '',
			length: known,
			cut: false,
			creator: this.#creatorOf(tag),
		};
		this.tags.push(this.#at);
		if (this.#outer.length === 0 && group === pixelGroup) {
			this.#at.cut = true;
			return wish.stop;
		}
		if (isSequence) {
			this.#level.sequence = { path, items: 0 };
			return wish.take;
		}
		const most = binaryVrs.has(vr) ? shownBytes : 4 * textCharactersMax;
		if (length <= most) return wish.take;
		this.#at.cut = true;
		return length === undefinedLength || binaryVrs.has(vr) ? wish.skip : wish.take;
	}

	#creatorOf(tag: number): string | null {
		const group = Math.floor(tag / 0x1_00_00);
		if ((group & 1) === 0) return null;
		const block = (tag & 0xff_ff) >> 8;
		return this.#level.creators.get(group * 0x1_00_00 + block) ?? '';
	}

	value(tag: number, vr: string, bytes: Buffer, littleEndian: boolean): void {
		if (this.#at === undefined) return;
		const { characterSet, creators } = this.#level;
		if (tag === specificCharacterSet) this.#level.characterSet = characterSetOf(bytes.toString('latin1'));
		const text = binaryVrs.has(vr) ? bytes.subarray(0, shownBytes).toString('hex') : this.#textOf(vr, bytes, littleEndian, characterSet);
		const group = Math.floor(tag / 0x1_00_00);
		const element = tag & 0xff_ff;
		if ((group & 1) === 1 && element >= 0x10 && element <= 0xff) {
			creators.set(group * 0x1_00_00 + element, text);
			this.#at.creator = text;
		}
		if (tag === pixelRepresentation) this.#isSigned = text === '1';
		this.#at.value = text.slice(0, textCharactersMax);
		this.#at.cut ||= text.length > textCharactersMax;
	}

	#textOf(vr: string, bytes: Buffer, littleEndian: boolean, characterSet: CharacterSet): string {
		const numbers = numbersOf(vr, bytes, littleEndian);
		if (numbers !== undefined) return numbers.join('\\');
		const text = encodedVrs.has(vr) ? characterSet.decode(bytes) : bytes.toString('latin1');
		return text.replace(/[\0 ]+$/, '');
	}

	itemStart(): void {
		const { sequence, characterSet } = this.#level;
		if (sequence === undefined) return;
		sequence.items += 1;
		this.#outer.push(this.#level);
		this.#level = { path: `${sequence.path}.${sequence.items}.`, characterSet, creators: new Map(), sequence: undefined };
	}

	itemEnd(): void {
		this.#level = this.#outer.pop() ?? this.#level;
	}

	sequenceEnd(): void {
		const { sequence } = this.#level;
		const listed = sequence && this.tags.findLast(({ path }) => path === sequence.path);
		if (listed && sequence) listed.value = sequence.items === 1 ? '1 item' : `${sequence.items} items`;
		this.#level.sequence = undefined;
	}
}

/** Lists the elements of a data set up to its pixel data, those in sequences too, while the bytes arrive. */
export class TagReader {
	readonly #lister = new Lister();
	readonly #feed: DataSetFeed;

	/** `bytesMax`: element headers, and values that are listed. */
	constructor(transferSyntaxUid: string, bytesMax: number) {
		this.#feed = new DataSetFeed(transferSyntaxUid, this.#lister, bytesMax);
	}

	/** True: wants more. The chunk is not kept. */
	feed(chunk: Uint8Array): boolean {
		return this.#feed.feed(chunk);
	}

	/** Called once, when there is no more to feed. */
	end(): TagListing {
		const fault = this.#feed.end();
		const { tags, isFull } = this.#lister;
		return { tags, fault, isFull };
	}
}
