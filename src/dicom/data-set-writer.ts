import { characterSetFor } from './character-set-encoding.ts';
import { encodingOf } from './transfer-syntax.ts';

/** An element with its values as text; several parted by `\`. */
export interface TextElement {
	tag: number;
	/** A VR of texts, or US. */
	vr: string;
	text: string;
}

const longForm: ReadonlySet<string> = new Set(['UC', 'UN', 'UR', 'UT']);
const byCharacterSet: ReadonlySet<string> = new Set('LO LT PN SH ST UC UT'.split(' '));
/** PS3.5 §7.1.2: the largest even length of two bytes. */
const shortBytesMax = 0xff_fe;

function bytesOf({ vr, text }: TextElement, encode: (text: string) => Buffer): Buffer {
	if (vr === 'US') {
		const numbers = text === '' ? [] : text.split('\\').map(Number);
		const bytes = Buffer.alloc(2 * numbers.length);
		for (const [index, number] of numbers.entries()) bytes.writeUInt16LE(number & 0xff_ff, 2 * index);
		return bytes;
	}
	const bytes = byCharacterSet.has(vr) ? encode(text) : Buffer.from(text, 'latin1');
	return bytes.length % 2 === 0 ? bytes : Buffer.concat([bytes, Buffer.from(vr === 'UI' ? '\0' : ' ', 'latin1')]);
}

function written({ tag, vr }: TextElement, bytes: Buffer, explicit: boolean): Buffer[] {
	const isLong = longForm.has(vr);
	if (explicit && !isLong && bytes.length > shortBytesMax) throw new RangeError('a value is too long for its VR');
	const head = Buffer.alloc(explicit && isLong ? 12 : 8);
	head.writeUInt16LE(tag >>> 16, 0);
	head.writeUInt16LE(tag & 0xff_ff, 2);
	if (!explicit) head.writeUInt32LE(bytes.length, 4);
	else {
		head.write(vr, 4, 'latin1');
		if (isLong) head.writeUInt32LE(bytes.length, 8);
		else head.writeUInt16LE(bytes.length, 6);
	}
	return [head, bytes];
}

/**
 * A small data set in little endian, explicit or implicit VR, with a Specific Character Set where the texts need one.
 * @param asked Specific Character Set of whoever reads it
 */
export function writeDataSet(elements: readonly TextElement[], transferSyntaxUid: string, asked: string): Buffer {
	const { explicit } = encodingOf(transferSyntaxUid);
	const texts = elements.filter(({ vr }) => byCharacterSet.has(vr)).map(({ text }) => text);
	const { term, encode } = characterSetFor(texts, asked);
	const all = term === undefined ? elements : [...elements, { tag: 0x0008_0005, vr: 'CS', text: term }];
	const sorted = all.toSorted((left, right) => left.tag - right.tag);
	return Buffer.concat(sorted.flatMap((element) => written(element, bytesOf(element, encode), explicit)));
}
