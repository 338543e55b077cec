import type { Json, JsonObject } from '#core/json.ts';
import { type CharacterSet, characterSetOf, defaultCharacterSet } from './character-set.ts';
import { type DataSetVisitor, ElementWalk, undefinedLength, type WalkLimits, wish } from './element-walk.ts';
import { encodingOf } from './transfer-syntax.ts';

const specificCharacterSet = 0x0008_0005;

/** Texts with several values, and texts that are one value whatever is in them. */
const severalValues = new Set(['AE', 'AS', 'CS', 'DA', 'DS', 'DT', 'IS', 'LO', 'SH', 'TM', 'UC', 'UI']);
const oneValue = new Set(['LT', 'ST', 'UR', 'UT']);
/** Written in the character set of the data set; all others are ASCII. */
const inCharacterSet = new Set(['LO', 'LT', 'PN', 'SH', 'ST', 'UC', 'UT']);

type ReadNumber = (bytes: Buffer, at: number, littleEndian: boolean) => number;
const numbers: ReadonlyMap<string, readonly [number, ReadNumber]> = new Map([
	['US', [2, (bytes, at, little) => (little ? bytes.readUInt16LE(at) : bytes.readUInt16BE(at))]],
	['SS', [2, (bytes, at, little) => (little ? bytes.readInt16LE(at) : bytes.readInt16BE(at))]],
	['UL', [4, (bytes, at, little) => (little ? bytes.readUInt32LE(at) : bytes.readUInt32BE(at))]],
	['SL', [4, (bytes, at, little) => (little ? bytes.readInt32LE(at) : bytes.readInt32BE(at))]],
	['FL', [4, (bytes, at, little) => (little ? bytes.readFloatLE(at) : bytes.readFloatBE(at))]],
	['FD', [8, (bytes, at, little) => (little ? bytes.readDoubleLE(at) : bytes.readDoubleBE(at))]],
]);

function hex(tag: number): string {
	return tag.toString(16).padStart(8, '0').toUpperCase();
}

/** PS3.18 §F.2.2; groups that are empty are left out. */
function nameOf(text: string): Json {
	const groups = text.split('=').map((group) => group.replace(/^ +|[ \0^]+$/g, ''));
	const named = ['Alphabetic', 'Ideographic', 'Phonetic'].map((name, index): [string, string] => [name, groups[index] ?? '']);
	const present = named.filter(([, group]) => group !== '');
	return present.length === 0 ? null : Object.fromEntries(present);
}

function valuesOf(vr: string, text: string): Json[] {
	if (oneValue.has(vr)) return [text.replace(/[ \0]+$/, '')];
	const parts = text.split('\\');
	return vr === 'PN' ? parts.map(nameOf) : parts.map((part) => part.replace(/^ +|[ \0]+$/g, '') || null);
}

interface Level {
	object: JsonObject;
	characterSet: CharacterSet;
}

class Builder implements DataSetVisitor {
	readonly root: JsonObject = {};
	readonly #vrOf: (tag: number) => string;
	readonly #levels: Level[] = [{ object: this.root, characterSet: defaultCharacterSet }];
	readonly #sequences: Json[][] = [];

	constructor(vrOf: (tag: number) => string) {
		this.#vrOf = vrOf;
	}

	get #level(): Level {
		return this.#levels.at(-1) as Level;
	}

	vrOf(tag: number): string {
		return this.#vrOf(tag);
	}

	element(tag: number, vr: string, length: number): 0 | 1 {
		if (vr === 'SQ' || (vr === 'UN' && length === undefinedLength)) {
			const items: Json[] = [];
			this.#sequences.push(items);
			this.#level.object[hex(tag)] = { vr: 'SQ', Value: items };
			return wish.take;
		}
		// Group lengths (PS3.5 §7.2) say nothing here, and pixel data in fragments is no attribute.
		return (tag & 0xff_ff) === 0 || length === undefinedLength ? wish.skip : wish.take;
	}

	itemStart(): void {
		const object: JsonObject = {};
		this.#sequences.at(-1)?.push(object);
		this.#levels.push({ object, characterSet: this.#level.characterSet });
	}

	itemEnd(): void {
		this.#levels.pop();
	}

	sequenceEnd(): void {
		this.#sequences.pop();
	}

	value(tag: number, vr: string, bytes: Buffer, littleEndian: boolean): void {
		const level = this.#level;
		if (tag === specificCharacterSet) {
			level.characterSet = characterSetOf(bytes.toString('latin1'));
			// What leaves here is UTF-8.
			level.object[hex(tag)] = { vr: 'CS', Value: ['ISO_IR 192'] };
		} else level.object[hex(tag)] = bytes.length === 0 ? { vr } : { vr, ...this.#contentOf(vr, bytes, littleEndian) };
	}

	#contentOf(vr: string, bytes: Buffer, littleEndian: boolean): JsonObject {
		if (vr === 'PN' || severalValues.has(vr) || oneValue.has(vr)) {
			const text = inCharacterSet.has(vr) ? this.#level.characterSet.decode(bytes) : bytes.toString('latin1');
			return { Value: valuesOf(vr, text) };
		}
		const number = numbers.get(vr);
		if (number !== undefined && bytes.length % number[0] === 0) {
			const [width, read] = number;
			return { Value: Array.from({ length: bytes.length / width }, (_, index) => read(bytes, index * width, littleEndian)) };
		}
		return { InlineBinary: bytes.toString('base64') };
	}
}

/**
 * A data set as a DICOM JSON Model object (PS3.18 annex F). IS and DS stay texts, with the digits that they came with.
 * @param vrOf the value representation in implicit VR, `UN` when unknown
 * @throws DataSetError
 */
export function jsonModelOf(dataSet: Buffer, transferSyntaxUid: string, vrOf: (tag: number) => string, limits: WalkLimits): JsonObject {
	const builder = new Builder(vrOf);
	const walk = new ElementWalk(encodingOf(transferSyntaxUid), builder, limits);
	walk.feed(dataSet);
	walk.end();
	return builder.root;
}
