import { DataSetError } from './fault.ts';
import { implementationClassUid, implementationVersionName } from './implementation.ts';

/** The file meta information (PS3.10 §7.1) that other programs need to read the data set behind it. */
export interface FileMeta {
	sopClassUid: string;
	sopInstanceUid: string;
	transferSyntaxUid: string;
	/** (0002,0016): who sent it. */
	sourceAe?: string;
}

/** PS3.10 §7.1. */
const preambleBytes = 128;
const prefix = Buffer.from('DICM', 'latin1');

function shortElement(element: number, vr: string, text: string, padding: string): Buffer {
	const value = Buffer.from(text.length % 2 === 0 ? text : text + padding, 'latin1');
	const header = Buffer.alloc(8);
	header.writeUInt16LE(0x0002, 0);
	header.writeUInt16LE(element, 2);
	header.write(vr, 4, 'latin1');
	header.writeUInt16LE(value.length, 6);
	return Buffer.concat([header, value]);
}

const implementation = Buffer.concat([
	shortElement(0x0012, 'UI', implementationClassUid, '\0'),
	shortElement(0x0013, 'SH', implementationVersionName, ' '),
]);
/** (0002,0000) with its length still to be written, and (0002,0001) with version 1. */
const opening = Buffer.from('02000000554c04000000000002000100 4f42000002000000 0001'.replaceAll(' ', ''), 'hex');
/** PS3.10 §7.1: tag, value representation, length and value of the group length. */
const groupLengthBytes = 12;

/** Makes the head of a DICOM file: a zeroed preamble, `DICM`, and the file meta information (PS3.10 §7.1). */
export function part10Head(meta: FileMeta): Buffer {
	const elements = Buffer.concat([
		opening,
		shortElement(0x0002, 'UI', meta.sopClassUid, '\0'),
		shortElement(0x0003, 'UI', meta.sopInstanceUid, '\0'),
		shortElement(0x0010, 'UI', meta.transferSyntaxUid, '\0'),
		implementation,
		...(meta.sourceAe === undefined ? [] : [shortElement(0x0016, 'AE', meta.sourceAe, ' ')]),
	]);
	elements.writeUInt32LE(elements.length - groupLengthBytes, 8);
	return Buffer.concat([Buffer.alloc(preambleBytes), prefix, elements]);
}

/** Facts that a received file states about itself; undefined if it does not. */
export interface ReadFileMeta {
	sopClassUid: string | undefined;
	sopInstanceUid: string | undefined;
	transferSyntaxUid: string | undefined;
	/** The index of the first byte of the data set. */
	dataSetOffset: number;
}

const longForm: ReadonlySet<string> = new Set('OB OD OF OL OV OW SQ SV UC UN UR UT UV'.split(' '));
/** Longer texts are no UIDs. */
const textBytesMax = 128;

/**
 * Reads the head of a DICOM file while its bytes arrive. Preamble and `DICM` may be missing, and so may the meta information: the
 * data set then begins at once. The group length is not asked, since writers get it wrong: the group ends where another begins.
 */
export class FileMetaReader {
	readonly #bytesMax: number;
	#buffer: Buffer = Buffer.alloc(0);
	#length = 0;
	/** The index of the next element; undefined until it is known whether there is a preamble. */
	#at: number | undefined;
	#isRead = false;
	readonly #texts = new Map<number, string>();

	/** `bytesMax`: of the whole head. */
	constructor(bytesMax: number) {
		this.#bytesMax = bytesMax;
	}

	/** True: wants more. The chunk is taken over. @throws DataSetError `too-large` */
	feed(chunk: Buffer): boolean {
		this.#append(chunk);
		this.#isRead = this.#advance(false);
		if (!this.#isRead && this.#length > this.#bytesMax) throw new DataSetError('too-large', 'the file meta information is too large');
		return !this.#isRead;
	}

	/**
	 * The head, and the bytes of the data set that were fed with it.
	 * @throws DataSetError `truncated` when the bytes end within the meta information
	 */
	end(): { meta: ReadFileMeta; rest: Buffer } {
		if (!this.#isRead) this.#advance(true);
		const dataSetOffset = this.#at ?? 0;
		const text = (element: number) => this.#texts.get(element) || undefined;
		const meta = { sopClassUid: text(0x0002), sopInstanceUid: text(0x0003), transferSyntaxUid: text(0x0010), dataSetOffset };
		return { meta, rest: this.#buffer.subarray(dataSetOffset, this.#length) };
	}

	#append(chunk: Buffer): void {
		const length = this.#length + chunk.length;
		if (this.#length === 0) this.#buffer = chunk;
		else if (length <= this.#buffer.length) chunk.copy(this.#buffer, this.#length);
		else {
			const grown = Buffer.allocUnsafe(Math.max(length, 2 * this.#length));
			this.#buffer.copy(grown, 0, 0, this.#length);
			chunk.copy(grown, this.#length);
			this.#buffer = grown;
		}
		this.#length = length;
	}

	/** Reads what is whole; true when the group is at its end. */
	#advance(isAll: boolean): boolean {
		const bytes = this.#buffer.subarray(0, this.#length);
		if (this.#at === undefined) {
			if (!isAll && bytes.length < preambleBytes + prefix.length) return false;
			const found = [preambleBytes, 0].find((at) => bytes.toString('latin1', at, at + prefix.length) === 'DICM');
			this.#at = found === undefined ? 0 : found + prefix.length;
		}
		for (;;) {
			const at = this.#at;
			if (at + 8 > bytes.length) return isAll;
			if (bytes.readUInt16LE(at) !== 0x0002) return true;
			const end = this.#readElement(bytes, at);
			if (end === undefined) {
				if (isAll) throw new DataSetError('truncated', 'the file ends within its meta information');
				return false;
			}
			this.#at = end;
		}
	}

	/** An element of the file meta information, which is always explicit VR little endian; undefined when it is not whole. */
	#readElement(bytes: Buffer, at: number): number | undefined {
		const isLong = longForm.has(bytes.toString('latin1', at + 4, at + 6));
		const from = at + (isLong ? 12 : 8);
		if (from > bytes.length) return undefined;
		const end = from + (isLong ? bytes.readUInt32LE(at + 8) : bytes.readUInt16LE(at + 6));
		if (end > bytes.length) return undefined;
		const text = bytes.toString('latin1', from, Math.min(end, from + textBytesMax));
		this.#texts.set(bytes.readUInt16LE(at + 2), text.replace(/[\0 ]+$/, ''));
		return end;
	}
}

/**
 * The head of a file whose bytes are there, as `FileMetaReader` reads it.
 * @throws DataSetError `truncated`
 */
export function readFileMeta(bytes: Buffer): ReadFileMeta {
	const reader = new FileMetaReader(Number.POSITIVE_INFINITY);
	reader.feed(bytes);
	return reader.end().meta;
}

/**
 * Returns the index of the data set in a file that `part10Head` opened, by its group length; undefined if more bytes are needed.
 * @throws DataSetError `encoding` when the bytes are no such file
 */
export function dataSetOffset(bytes: Buffer): number | undefined {
	const group = preambleBytes + prefix.length;
	if (bytes.length < group + groupLengthBytes) return undefined;
	if (bytes.compare(prefix, 0, prefix.length, preambleBytes, group) !== 0 || bytes.readUInt32LE(group) !== 0x0000_0002) {
		throw new DataSetError('encoding', 'not a DICOM file');
	}
	return group + groupLengthBytes + bytes.readUInt32LE(group + 8);
}
