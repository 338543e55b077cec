import { gunzipSync } from 'node:zlib';
import { Failure } from '#core/failure.ts';

/** A file of a package. */
export interface PackageFile {
	/** `package/StructureDefinition-us-core-patient.json` */
	name: string;
	bytes: Uint8Array;
}

const block = 512;
/** A pax header has a few records, of which the path is the longest. */
const paxBytesMax = 64 * 1024;

/**
 * Reads the files of a FHIR package: a tar archive (POSIX ustar and pax), compressed by gzip, as the FHIR package specification has it.
 * `bytesMax` bounds the archive after decompression.
 * @throws Failure `invalid` for anything else, `too-large`
 */
export function filesOfPackage(bytes: Uint8Array, bytesMax: number): PackageFile[] {
	const archive = unzipped(bytes, bytesMax);
	const files: PackageFile[] = [];
	let longName: string | undefined;
	for (let at = 0; at + block <= archive.length; ) {
		const header = archive.subarray(at, at + block);
		if (header.every((byte) => byte === 0)) break;
		const size = octal(header, 124, 12);
		if (!isIntact(header) || size === undefined || at + block + size > archive.length) throw notOne();
		const content = archive.subarray(at + block, at + block + size);
		at += block + Math.ceil(size / block) * block;
		const kind = String.fromCharCode(header[156] ?? 0);
		if (kind === 'x') longName = paxPath(content, nameIn(header)) ?? longName;
		else if (kind === 'L') longName = text(content);
		else {
			if (kind === '0' || kind === '\0') files.push({ name: longName ?? nameIn(header), bytes: content });
			longName = undefined;
		}
	}
	return files;
}

function notOne(): Failure {
	return new Failure('invalid', 'the file is no FHIR package: a tar archive compressed by gzip');
}

function unzipped(bytes: Uint8Array, bytesMax: number): Buffer {
	try {
		return gunzipSync(bytes, { maxOutputLength: bytesMax });
	} catch (error) {
		if (error instanceof RangeError) throw new Failure('too-large', `a package has at most ${bytesMax} bytes when it is unpacked`);
		throw notOne();
	}
}

/** The checksum is the sum of the header's bytes, its own field taken as spaces. */
function isIntact(header: Buffer): boolean {
	let sum = 0;
	for (let at = 0; at < block; at++) sum += at >= 148 && at < 156 ? 32 : (header[at] ?? 0);
	return sum === octal(header, 148, 8);
}

function octal(header: Buffer, at: number, length: number): number | undefined {
	const digits = text(header.subarray(at, at + length)).trim();
	return /^[0-7]+$/.test(digits) ? Number.parseInt(digits, 8) : undefined;
}

function text(bytes: Buffer): string {
	const end = bytes.indexOf(0);
	return bytes.toString('utf8', 0, end < 0 ? bytes.length : end);
}

function nameIn(header: Buffer): string {
	const [name, prefix] = [text(header.subarray(0, 100)), text(header.subarray(345, 500))];
	return prefix === '' ? name : `${prefix}/${name}`;
}

/**
 * Finds the path among the records of a pax header: `<length> <keyword>=<value>`, each ended by a line feed.
 * @throws Failure `invalid` for a record that is none; what its length leads to would be read as the next one
 */
function paxPath(content: Buffer, name: string): string | undefined {
	if (content.length > paxBytesMax) throw badPax(name);
	for (let at = 0; at < content.length; ) {
		const { length, keyword } = paxLength(content, at);
		const end = at + length;
		const equals = content.indexOf(0x3d, keyword);
		const isRecord = equals > keyword && equals < end - 1 && end <= content.length && content[end - 1] === 0x0a;
		if (!isRecord) throw badPax(name);
		if (equals - keyword === 4 && content.toString('latin1', keyword, equals) === 'path')
			return content.toString('utf8', equals + 1, end - 1);
		at = end;
	}
	return undefined;
}

/** Returns the length that a record states, 0 for none, and where its keyword begins. */
function paxLength(content: Buffer, start: number): { length: number; keyword: number } {
	let length = 0;
	let at = start;
	for (let byte = content[at] ?? 0; byte >= 0x30 && byte <= 0x39 && length <= paxBytesMax; byte = content[at] ?? 0) {
		length = length * 10 + byte - 0x30;
		at++;
	}
	return { length: content[at] === 0x20 ? length : 0, keyword: at + 1 };
}

/** The name is the sender's, so it is made safe to show, and shortened. */
function badPax(name: string): Failure {
	return new Failure(
		'invalid',
		`the file is no FHIR package: the pax header '${name.replace(/[^\x20-\x7e]/g, '?').slice(0, 100)}' is malformed`,
	);
}
