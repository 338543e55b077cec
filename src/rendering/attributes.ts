import { DataSetFeed } from '#dicom/data-set-feed.ts';
import { standardVrOf } from '#dicom/dictionary.ts';
import { type DataSetVisitor, wish } from '#dicom/element-walk.ts';
import { encodingOf } from '#dicom/transfer-syntax.ts';

interface Value {
	bytes: Buffer;
	littleEndian: boolean;
}

/** The sequences in which a picture's attributes may lie (PS3.3 §C.7.6.16, §C.11.1, §C.11.2). */
export const sequences = {
	sharedFunctionalGroups: 0x5200_9229,
	perFrameFunctionalGroups: 0x5200_9230,
	pixelValueTransformation: 0x0028_9145,
	frameVoiLut: 0x0028_9132,
	pixelMeasures: 0x0028_9110,
	modalityLut: 0x0028_3000,
	voiLut: 0x0028_3010,
} as const;
const sequenceTags: ReadonlySet<number> = new Set(Object.values(sequences));

/** Elements that say how pixels become a picture: their group, and others by tag. */
const pixelGroup = 0x0028;
const otherTags: ReadonlySet<number> = new Set([0x0018_1164, 0x0018_2010, 0x2050_0020]);
/** It is long, and pictures have no colour profile. */
const iccProfile = 0x0028_2000;

/** The elements of a data set, or of an item of a sequence, that say how its pixels are shown. */
export class Attributes {
	readonly #values = new Map<number, Value>();
	readonly #items = new Map<number, Attributes[]>();

	set(tag: number, bytes: Buffer, littleEndian: boolean): void {
		this.#values.set(tag, { bytes: Buffer.from(bytes), littleEndian });
	}

	add(tag: number): Attributes {
		const item = new Attributes();
		const items = this.#items.get(tag);
		if (items) items.push(item);
		else this.#items.set(tag, [item]);
		return item;
	}

	/** Returns the first item of a sequence. */
	item(tag: number): Attributes | undefined {
		return this.items(tag)[0];
	}

	items(tag: number): readonly Attributes[] {
		return this.#items.get(tag) ?? [];
	}

	bytes(tag: number): Buffer | undefined {
		return this.#values.get(tag)?.bytes;
	}

	text(tag: number): string | undefined {
		const text = this.#values
			.get(tag)
			?.bytes.toString('latin1')
			.replace(/[\0 ]+$/, '')
			.trimStart();
		return text === '' ? undefined : text;
	}

	/** Returns the values of a decimal or integer string; undefined where one of them is no number. */
	numbers(tag: number): number[] | undefined {
		const values = this.text(tag)
			?.split('\\')
			.map((part) => (part.trim() === '' ? Number.NaN : Number(part)));
		return values?.every(Number.isFinite) ? values : undefined;
	}

	/** Returns the values of US, or of SS where `isSigned`. */
	words(tag: number, isSigned = false): number[] {
		const value = this.#values.get(tag);
		if (value === undefined) return [];
		const { bytes, littleEndian } = value;
		const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
		return Array.from({ length: bytes.length >> 1 }, (_, index) =>
			isSigned ? view.getInt16(index * 2, littleEndian) : view.getUint16(index * 2, littleEndian),
		);
	}

	word(tag: number): number | undefined {
		return this.words(tag)[0];
	}
}

/** Gathers the attributes of one frame; what the functional groups say of other frames is passed over. */
class Gatherer implements DataSetVisitor {
	readonly whole = new Attributes();
	readonly #frame: number;
	/** The sequences that are open, with the item at hand; undefined for an item that is passed over. */
	readonly #open: { tag: number; item: Attributes | undefined }[] = [];
	#frameItems = 0;

	constructor(frame: number) {
		this.#frame = frame;
	}

	vrOf(tag: number): string {
		return standardVrOf(tag);
	}

	element(tag: number, vr: string) {
		if (this.#open.length > 0 && this.#open.at(-1)?.item === undefined) return wish.skip;
		if (sequenceTags.has(tag) && (vr === 'SQ' || vr === 'UN')) {
			this.#open.push({ tag, item: undefined });
			return wish.take;
		}
		const isWanted = (tag >>> 16 === pixelGroup || otherTags.has(tag)) && tag !== iccProfile && vr !== 'SQ';
		return isWanted ? wish.take : wish.skip;
	}

	value(tag: number, _vr: string, bytes: Buffer, littleEndian: boolean): void {
		const at = this.#open.length === 0 ? this.whole : this.#open.at(-1)?.item;
		at?.set(tag, bytes, littleEndian);
	}

	itemStart(): void {
		const open = this.#open.at(-1);
		if (open === undefined) return;
		const within = this.#open.length === 1 ? this.whole : this.#open.at(-2)?.item;
		const isOther = open.tag === sequences.perFrameFunctionalGroups && this.#frameItems++ !== this.#frame;
		open.item = isOther ? undefined : within?.add(open.tag);
	}

	itemEnd(): void {
		const open = this.#open.at(-1);
		if (open) open.item = undefined;
	}

	sequenceEnd(): void {
		this.#open.pop();
	}
}

/**
 * Reads from the elements before the pixel data how a frame is shown.
 * @param header the data set up to its pixel data; already inflated where it is deflated
 * @param frame from 0
 */
export function attributesOf(header: Uint8Array, transferSyntaxUid: string, frame: number): Attributes {
	const gatherer = new Gatherer(frame);
	const feed = new DataSetFeed(encodedAs(transferSyntaxUid), gatherer, header.byteLength + 1);
	feed.feed(header);
	return gatherer.whole;
}

/** A deflated data set is in explicit VR little endian once it is inflated. */
function encodedAs(transferSyntaxUid: string): string {
	return encodingOf(transferSyntaxUid).deflated ? '1.2.840.10008.1.2.1' : transferSyntaxUid;
}
