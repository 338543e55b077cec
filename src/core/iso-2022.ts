/**
 * Code extensions of ISO 2022, as DICOM (PS3.3 §C.12.1.1.2, PS3.5 §6.1.2.5) and HL7 v2 (table 0211) use them: escape sequences designate a set
 * for bytes below 0x80 (G0) or above (G1), and delimiters put the sets back in force with which a text begins.
 */

/** A set of one or two bytes a character; `decode` takes a run of its bytes. */
interface CodedSet {
	readonly width: 1 | 2;
	/** Its bytes below 0x80 are those of ASCII, so delimiters are delimiters. */
	readonly isAscii?: true;
	decode(bytes: Buffer): string;
}

const ascii: CodedSet = { width: 1, isAscii: true, decode: (bytes) => bytes.toString('latin1') };
const romaji: CodedSet = {
	width: 1,
	isAscii: true,
	decode: (bytes) => bytes.toString('latin1').replaceAll('\\', '¥').replaceAll('~', '‾'),
};
const katakana: CodedSet = {
	width: 1,
	decode: (bytes) =>
		Array.from(bytes, (byte) => (byte >= 0xa1 && byte <= 0xdf ? String.fromCharCode(byte - 0xa1 + 0xff61) : '\ufffd')).join(''),
};

function single(encoding: string): CodedSet {
	const decoder = new TextDecoder(encoding);
	return { width: 1, decode: (bytes) => decoder.decode(bytes) };
}

/** The two-byte sets are the upper halves of EUC encodings; `before` selects the third set of EUC-JP. */
function double(encoding: string, before?: number): CodedSet {
	const decoder = new TextDecoder(encoding);
	const step = before === undefined ? 2 : 3;
	return {
		width: 2,
		decode: (bytes) => {
			const euc = Buffer.alloc(Math.ceil(bytes.length / 2) * step);
			for (let from = 0, to = 0; from < bytes.length; from += 2) {
				if (before !== undefined) euc[to++] = before;
				euc[to++] = (bytes[from] as number) | 0x80;
				euc[to++] = (bytes[from + 1] ?? 0x7f) | 0x80;
			}
			return decoder.decode(euc);
		},
	};
}

interface Designation {
	half: 'g0' | 'g1';
	set: CodedSet;
}

const latin = (encoding: string): Designation => ({ half: 'g1', set: single(encoding) });

/** Escape sequences without their ESC. */
const designations: ReadonlyMap<string, Designation> = new Map<string, Designation>([
	['(B', { half: 'g0', set: ascii }],
	['(J', { half: 'g0', set: romaji }],
	[')I', { half: 'g1', set: katakana }],
	['-A', latin('windows-1252')],
	['-B', latin('iso-8859-2')],
	['-C', latin('iso-8859-3')],
	['-D', latin('iso-8859-4')],
	['-F', latin('iso-8859-7')],
	['-G', latin('iso-8859-6')],
	['-H', latin('iso-8859-8')],
	['-L', latin('iso-8859-5')],
	['-M', latin('windows-1254')],
	['-T', latin('windows-874')],
	['-b', latin('iso-8859-15')],
	['(I', { half: 'g0', set: { width: 1, decode: (bytes) => katakana.decode(Buffer.from(bytes.map((byte) => byte | 0x80))) } }],
	['$@', { half: 'g0', set: double('euc-jp') }],
	['$B', { half: 'g0', set: double('euc-jp') }],
	['$A', { half: 'g0', set: double('gb18030') }],
	['$(C', { half: 'g0', set: double('euc-kr') }],
	['$(D', { half: 'g0', set: double('euc-jp', 0x8f) }],
	['$)A', { half: 'g1', set: double('gb18030') }],
	['$)C', { half: 'g1', set: double('euc-kr') }],
]);

const ESC = 0x1b;

/** How a format uses code extensions. Sets are named by the escape sequences that designate them, without ESC. */
export interface CodeExtensions {
	/** The sets with which a text begins; ASCII and none without. */
	g0?: string;
	g1?: string;
	/** The bytes behind which the first sets are in force again. In a set of two bytes they are data. */
	resetBehind: ReadonlySet<number>;
	/** Escape sequences that the format reads as others. */
	readAs?: Readonly<Record<string, string>>;
}

function designationAt(
	bytes: Buffer,
	at: number,
	readAs: CodeExtensions['readAs'],
): { designation: Designation; length: number } | undefined {
	for (const length of [2, 3]) {
		const sequence = bytes.toString('latin1', at + 1, at + 1 + length);
		const designation = designations.get(readAs?.[sequence] ?? sequence);
		if (designation) return { designation, length: length + 1 };
	}
	return undefined;
}

/** Tells whether the bytes have an escape sequence that designates a set. */
export function hasDesignation(bytes: Buffer): boolean {
	for (let at = bytes.indexOf(ESC); at !== -1; at = bytes.indexOf(ESC, at + 1)) if (designationAt(bytes, at, undefined)) return true;
	return false;
}

/** Returns the end of the run that begins at `at`: an escape, a delimiter of a one-byte set, or the other half. */
function runEnd(bytes: Buffer, at: number, set: CodedSet, upper: boolean, resetBehind: ReadonlySet<number>): number {
	let end = at;
	while (end < bytes.length) {
		const byte = bytes[end] as number;
		if (byte === ESC || byte >= 0x80 !== upper) break;
		if (!upper && (byte < 0x20 || (set.isAscii && resetBehind.has(byte)))) break;
		end += set.width;
	}
	return Math.min(end, bytes.length);
}

/** Decodes a value whose escape sequences and initial sets are those of ISO 2022; what cannot be read becomes U+FFFD. */
export function decodeIso2022(bytes: Buffer, extensions: CodeExtensions): string {
	const { resetBehind, readAs } = extensions;
	const initialG0 = designations.get(extensions.g0 ?? '')?.set ?? ascii;
	const initialG1 = designations.get(extensions.g1 ?? '')?.set;
	let g0 = initialG0;
	let g1 = initialG1;
	let text = '';
	let at = 0;
	while (at < bytes.length) {
		const byte = bytes[at] as number;
		if (byte === ESC) {
			const found = designationAt(bytes, at, readAs);
			if (found?.designation.half === 'g0') g0 = found.designation.set;
			else if (found) g1 = found.designation.set;
			at += found?.length ?? 1;
			continue;
		}
		const upper = byte >= 0x80;
		const set = upper ? g1 : g0;
		const end = set === undefined ? at + 1 : runEnd(bytes, at, set, upper, resetBehind);
		if (end > at) {
			text += set === undefined ? '\ufffd' : set.decode(bytes.subarray(at, end));
			at = end;
			continue;
		}
		text += String.fromCharCode(byte);
		at += 1;
		if (resetBehind.has(byte)) {
			g0 = initialG0;
			g1 = initialG1;
		}
	}
	return text;
}
