import { type CharacterSet, characterSetOf, defaultCharacterSet } from './character-set.ts';
import { DataSetFeed } from './data-set-feed.ts';
import { standardVrOf } from './dictionary.ts';
import { type DataSetVisitor, wish } from './element-walk.ts';
import { tagOf } from './elements.ts';
import { DataSetError, type DataSetFault } from './fault.ts';
import { tagKey } from './tag-key.ts';

/** The DICOM JSON Model (PS3.18 §F.2). Members are tags of eight hexadecimal digits, capital letters. */
export interface DicomJson {
	[tag: string]: DicomJsonElement;
}

export type DicomJsonElement = {
	vr: string;
	Value?: DicomJsonValue[];
	InlineBinary?: string;
	BulkDataURI?: string;
};

export type DicomJsonValue = string | number | null | DicomJson | { [group: string]: string };

/** Renders text, sorted by tag at every level (PS3.18 §F.2.2). An object would put members such as `20010010` first, whenever they were added. */
export function dicomJsonText(json: DicomJson): string {
	const members = Object.keys(json)
		.sort()
		.map((tag) => `"${tag}":${elementText(json[tag] as DicomJsonElement)}`);
	return `{${members.join(',')}}`;
}

function elementText(element: DicomJsonElement): string {
	const { vr, Value: items } = element;
	if (vr !== 'SQ' || items === undefined) return JSON.stringify(element);
	return `{"vr":"SQ","Value":[${items.map((item) => dicomJsonText(item as DicomJson)).join(',')}]}`;
}

export interface JsonModelOptions {
	/** Bytes of headers and values that are taken. */
	bytesMax: number;
	/** Binary values up to this many bytes come inline; longer ones, and encapsulated ones always, by reference. */
	inlineBytesMax: number;
	/** Returns the URL of a value that is left out. `path` is its tag, behind the tags and item numbers that lead to it (`00081140/1/…`). */
	bulkDataUri: (path: string) => string | undefined;
	/** IS and DS are texts where a number would be written with other digits (`1.00`). */
	keepsDigits?: boolean;
}

export type JsonModelResult = { json: DicomJson } | { fault: DataSetFault };

/** The pixels of an image: whole numbers, or floating point (PS3.3 §C.7.6.3, §C.7.6.24, §C.7.6.25). Of their group an offset table may stand before them. */
export const pixelTags: readonly number[] = [0x7fe0_0010, 0x7fe0_0008, 0x7fe0_0009];
const lastPixelTag = Math.max(...pixelTags);
const pixelRepresentation = 0x0028_0103;
const specificCharacterSet = tagOf('SpecificCharacterSet');
const textVrs: ReadonlySet<string> = new Set('LO LT PN SH ST UC UT'.split(' '));
const wholeVrs: ReadonlySet<string> = new Set('LT ST UR UT'.split(' '));
const binaryVrs: ReadonlySet<string> = new Set('OB OD OF OL OV OW UN'.split(' '));
const nameGroups = ['Alphabetic', 'Ideographic', 'Phonetic'] as const;

interface Numeric {
	bytes: number;
	read(bytes: Buffer, at: number, littleEndian: boolean): number | string;
}

/** What JSON has no number for is written as text (PS3.18 §F.2.3). */
function safe(value: bigint): number | string {
	return Number.isSafeInteger(Number(value)) ? Number(value) : value.toString();
}

function finite(value: number): number | string {
	return Number.isFinite(value) ? value : String(value);
}

const numerics: Readonly<Record<string, Numeric>> = {
	US: { bytes: 2, read: (bytes, at, little) => (little ? bytes.readUInt16LE(at) : bytes.readUInt16BE(at)) },
	SS: { bytes: 2, read: (bytes, at, little) => (little ? bytes.readInt16LE(at) : bytes.readInt16BE(at)) },
	UL: { bytes: 4, read: (bytes, at, little) => (little ? bytes.readUInt32LE(at) : bytes.readUInt32BE(at)) },
	SL: { bytes: 4, read: (bytes, at, little) => (little ? bytes.readInt32LE(at) : bytes.readInt32BE(at)) },
	FL: { bytes: 4, read: (bytes, at, little) => finite(little ? bytes.readFloatLE(at) : bytes.readFloatBE(at)) },
	FD: { bytes: 8, read: (bytes, at, little) => finite(little ? bytes.readDoubleLE(at) : bytes.readDoubleBE(at)) },
	UV: { bytes: 8, read: (bytes, at, little) => safe(little ? bytes.readBigUInt64LE(at) : bytes.readBigUInt64BE(at)) },
	SV: { bytes: 8, read: (bytes, at, little) => safe(little ? bytes.readBigInt64LE(at) : bytes.readBigInt64BE(at)) },
	AT: {
		bytes: 4,
		read: (bytes, at, little) => tagKey(little ? bytes.readUInt16LE(at) * 0x1_00_00 + bytes.readUInt16LE(at + 2) : bytes.readUInt32BE(at)),
	},
};

function withoutPadding(vr: string, text: string): string {
	const end = text.replace(/[\0 ]+$/, '');
	return wholeVrs.has(vr) ? end : end.replace(/^ +/, '');
}

function nameValue(text: string): DicomJsonValue {
	const name: { [group: string]: string } = {};
	for (const [index, group] of text.split('=', 3).entries()) {
		const value = withoutPadding('PN', group);
		const member = nameGroups[index];
		if (member && !/^[\^ ]*$/.test(value)) name[member] = value;
	}
	return Object.keys(name).length === 0 ? null : name;
}

/** IS and DS as numbers where no digit is lost by it. */
function numberOrText(text: string, keepsDigits = false): number | string {
	const value = Number(text);
	if (keepsDigits && String(value) !== text) return text;
	return /^[+-]?\d/.test(text) && Number.isFinite(value) && (Number.isSafeInteger(value) || text.length <= 16) ? value : text;
}

function textValues(vr: string, text: string, keepsDigits?: boolean): DicomJsonValue[] {
	const parts = wholeVrs.has(vr) ? [text] : text.split('\\');
	const values = parts.map((part): DicomJsonValue => {
		const bare = withoutPadding(vr, part);
		if (bare === '') return null;
		if (vr === 'PN') return nameValue(bare);
		return vr === 'IS' || vr === 'DS' ? numberOrText(bare, keepsDigits) : bare;
	});
	return values.every((value) => value === null) ? [] : values;
}

/** An element whose value stands as text, as DICOM writes it (PS3.5 §6.2): several values parted by `\`; null where there is none. */
export function elementOfText(vr: string, text: string | null): DicomJsonElement {
	const values = text === null ? [] : vr in numerics ? text.split('\\').map((one) => numberOrText(one)) : textValues(vr, text);
	return values.length === 0 ? { vr } : { vr, Value: values };
}

function numericValues({ bytes: size, read }: Numeric, bytes: Buffer, littleEndian: boolean): DicomJsonValue[] {
	const values: DicomJsonValue[] = [];
	for (let at = 0; at + size <= bytes.length; at += size) values.push(read(bytes, at, littleEndian));
	return values;
}

/** The numbers of a value whose VR is binary; undefined for any other VR. */
export function numbersOf(vr: string, bytes: Buffer, littleEndian: boolean): DicomJsonValue[] | undefined {
	const numeric = numerics[vr];
	return numeric && numericValues(numeric, bytes, littleEndian);
}

const wordBytes: Readonly<Record<string, number>> = { OW: 2, OF: 4, OL: 4, OD: 8, OV: 8 };

/** Base64 of the value in little endian (PS3.18 §F.2.7). */
function inlineBinary(vr: string, bytes: Buffer, littleEndian: boolean): string {
	const size = wordBytes[vr] ?? 1;
	if (littleEndian || size === 1 || bytes.length % size !== 0) return bytes.toString('base64');
	const swapped = Buffer.from(bytes);
	return (size === 2 ? swapped.swap16() : size === 4 ? swapped.swap32() : swapped.swap64()).toString('base64');
}

/** An item, or the data set, that is being filled. */
interface Level {
	json: DicomJson;
	characterSet: CharacterSet;
	/** The path of the level itself, with a slash at the end; empty for the data set. */
	path: string;
	/** The sequence that is open in it. */
	sequence: { tag: string; items: DicomJson[] } | undefined;
}

class Builder implements DataSetVisitor {
	readonly json: DicomJson = {};
	readonly #options: JsonModelOptions;
	readonly #levels: Level[] = [];
	/** Pixel Representation (0028,0103) of the image, or of the item at hand, is 1. */
	#isSigned = false;
	#level: Level = { json: this.json, characterSet: defaultCharacterSet, path: '', sequence: undefined };

	constructor(options: JsonModelOptions) {
		this.#options = options;
	}

	/** Without a sequence that is still open: it would look like an empty one. */
	get whole(): DicomJson {
		const { sequence } = this.#levels[0] ?? this.#level;
		if (!sequence) return this.json;
		const { [sequence.tag]: _open, ...rest } = this.json;
		return rest;
	}

	vrOf(tag: number): string {
		const vr = standardVrOf(tag);
		return vr === 'XS' ? (this.#isSigned ? 'SS' : 'US') : vr;
	}

	element(tag: number, written: string, length: number) {
		const { json, path } = this.#level;
		const vr = length === 0xff_ff_ff_ff ? written : this.#knownVr(tag, written);
		if (this.#levels.length === 0) {
			if (tag < 0x0004_0000) throw new DataSetError('encoding', 'a command or file meta element lies in the data set');
			if (tag > lastPixelTag) return wish.stop;
			if (pixelTags.includes(tag)) {
				this.#refer(json, path, tag, vr);
				return wish.stop;
			}
		}
		// Group lengths are not part of the model (PS3.18 §F.2.2).
		if ((tag & 0xff_ff) === 0) return wish.skip;
		const isSequence = vr === 'SQ' || (vr === 'UN' && length === 0xff_ff_ff_ff);
		if (isSequence) {
			const element: DicomJsonElement = { vr: 'SQ' };
			json[tagKey(tag)] = element;
			this.#level.sequence = { tag: tagKey(tag), items: [] };
			return wish.take;
		}
		if (binaryVrs.has(vr) && length > this.#options.inlineBytesMax) {
			this.#refer(json, path, tag, vr);
			return wish.skip;
		}
		return wish.take;
	}

	#refer(json: DicomJson, path: string, tag: number, vr: string): void {
		const uri = this.#options.bulkDataUri(path + tagKey(tag));
		json[tagKey(tag)] = uri === undefined ? { vr } : { vr, BulkDataURI: uri };
	}

	/**
	 * Programs that do not know an element write UN, and its value in implicit VR little endian (PS3.5 §6.2.2). The VR of the standard says more. A
	 * sequence stays as it is: its items were not read.
	 */
	#knownVr(tag: number, written: string): string {
		const known = written === 'UN' ? this.vrOf(tag) : written;
		return known === 'SQ' && written === 'UN' ? 'UN' : known;
	}

	value(tag: number, written: string, bytes: Buffer, isLittle: boolean): void {
		const { json } = this.#level;
		const vr = this.#knownVr(tag, written);
		const littleEndian = isLittle || written === 'UN';
		if (bytes.length === 0) json[tagKey(tag)] = { vr };
		else if (binaryVrs.has(vr)) json[tagKey(tag)] = { vr, InlineBinary: inlineBinary(vr, bytes, littleEndian) };
		else if (tag === specificCharacterSet) {
			this.#level.characterSet = characterSetOf(bytes.toString('latin1'));
			// JSON is UTF-8 (PS3.18 §F.2).
			json[tagKey(tag)] = { vr, Value: ['ISO_IR 192'] };
		} else {
			const numeric = numerics[vr];
			const values = numeric
				? numericValues(numeric, bytes, littleEndian)
				: textValues(vr, textVrs.has(vr) ? this.#level.characterSet.decode(bytes) : bytes.toString('latin1'), this.#options.keepsDigits);
			if (tag === pixelRepresentation) this.#isSigned = values[0] === 1;
			json[tagKey(tag)] = values.length === 0 ? { vr } : { vr, Value: values };
		}
	}

	itemStart(): void {
		const { sequence, path, characterSet } = this.#level;
		if (!sequence) return;
		const json: DicomJson = {};
		sequence.items.push(json);
		this.#levels.push(this.#level);
		this.#level = { json, characterSet, path: `${path}${sequence.tag}/${sequence.items.length}/`, sequence: undefined };
	}

	itemEnd(): void {
		this.#level = this.#levels.pop() ?? this.#level;
	}

	sequenceEnd(): void {
		const { json, sequence } = this.#level;
		const element = sequence && json[sequence.tag];
		if (element && sequence.items.length > 0) element.Value = sequence.items;
		this.#level.sequence = undefined;
	}
}

/**
 * Turns a data set into the DICOM JSON Model while its bytes arrive, up to the pixel data, which is always by reference. What comes
 * behind it (signatures, padding) is left out.
 */
export class JsonModelReader {
	readonly #builder: Builder;
	readonly #feed: DataSetFeed;

	constructor(transferSyntaxUid: string, options: JsonModelOptions) {
		this.#builder = new Builder(options);
		this.#feed = new DataSetFeed(transferSyntaxUid, this.#builder, options.bytesMax);
	}

	/** True: wants more. False: there is nothing more to read; `end` tells whether by a fault. The chunk is not kept. */
	feed(chunk: Uint8Array): boolean {
		return this.#feed.feed(chunk);
	}

	/** Elements that were read whole, up to the end or to the fault. */
	get json(): DicomJson {
		return this.#builder.whole;
	}

	/** Called once, when there is no more to feed. */
	end(): JsonModelResult {
		const fault = this.#feed.end();
		return fault ? { fault } : { json: this.#builder.json };
	}
}
