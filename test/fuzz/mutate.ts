import type { Seeded } from '#test/trust/seeded.ts';
import type { Format } from './seeds.ts';

const frameMarks = String.fromCharCode(0x0b, 0x1c, 0x0d);

const tags = /<[^>]*>?|[^<]+/gs;
const jsonTokens = /"(?:[^"\\]|\\.)*"?|[{}[\],:]|[^"{}[\],:]+/gs;

/** The parts of which an input of a format consists, as Latin-1, in which a character is a byte. Put together again they are the input. */
const partsOf: Record<Format, RegExp | ((text: string) => string[])> = {
	hl7v2: /\r|[|^~&\\]|[^\r|^~&\\]+/gs,
	xml: tags,
	hl7v3: tags,
	cda: tags,
	json: jsonTokens,
	fhir: jsonTokens,
	mpps: jsonTokens,
	mllp: new RegExp(`[${frameMarks}]|[^${frameMarks}]+`, 'gs'),
	multipart: /\r\n|--[\w-]+|[^\r]+|\r/gs,
	dicom: (text) => runs(text, 8),
	pdu: (text) => runs(text, 6),
};

/** Binary formats: heads of a stated size, and what is between them, as they come; lengths are met by chance often enough. */
function runs(text: string, headBytes: number): string[] {
	const parts: string[] = [];
	for (let at = 0; at < text.length; ) {
		const head = text.slice(at, at + headBytes);
		const bytes = Buffer.from(head, 'latin1');
		const length = headBytes === 8 ? bodyOfElement(bytes) : bytes.length === headBytes ? bytes.readUInt32BE(2) : 0;
		const body = text.slice(at + head.length, at + head.length + Math.min(length, 4096));
		parts.push(head, body);
		at += head.length + body.length;
	}
	return parts.filter(({ length }) => length > 0);
}

function bodyOfElement(head: Buffer): number {
	if (head.length < 8) return 0;
	const isExplicit = /^[A-Z]{2}$/.test(head.toString('latin1', 4, 6));
	return isExplicit ? head.readUInt16LE(6) : head.readUInt32LE(4);
}

/** Parts with which each format has its difficulties. */
const words: Record<Format, readonly string[]> = {
	hl7v2: [
		'\r',
		'|',
		'^',
		'~',
		'&',
		'\\',
		'\\X0\\',
		'\\F\\',
		'\\.br\\',
		'\\C2842\\',
		'""',
		'MSH|^~\\&',
		'ADD|',
		'DSC|1',
		'BHS|',
		'FHS|',
		'20261332',
		'-9999999999',
		'\u{1f600}',
		'\0',
		'OBX|1|',
		'~~~~~~~~',
		'PID|',
	],
	xml: [
		'<',
		'>',
		'<!--',
		'-->',
		'<![CDATA[',
		']]>',
		'<!DOCTYPE a>',
		'&#0;',
		'&#xD800;',
		'&a;',
		'&lt;',
		'<?xml version="1.1"?>',
		' xmlns=""',
		' a="1" a="2"',
		'\u0000',
		'\ud7ff',
		'</',
		'/>',
	],
	hl7v3: [
		'<id nullFlavor="NI"/>',
		'<id root="1"/>',
		' xsi:type="ED"',
		' value="2026"',
		' value="99999999999999"',
		'<name/>',
		'<telecom value="x:"/>',
		'</patient>',
		' root=""',
		' extension="\u00e9"',
		'<!---->',
		'<![CDATA[a]]>',
	],
	cda: [
		'<entry/>',
		'<templateId root="2.16.840.1.113883.10.20.22.4.2"/>',
		' xsi:type="IVL_PQ"',
		' nullFlavor="UNK"',
		'<low value="1"/>',
		'<high/>',
		'<text><reference value="#"/></text>',
		'<section/>',
		'<translation/>',
		'<entryRelationship typeCode="COMP"/>',
		' value="-"',
		' representation="B64"',
	],
	json: [
		'{',
		'}',
		'[',
		']',
		',',
		':',
		'null',
		'true',
		'-0',
		'1e999',
		'1E400',
		'12345678901234567890.10',
		'""',
		'"\\ud800"',
		'"\\u0000"',
		'"resourceType"',
		'"__proto__"',
		'"id"',
		'"extension"',
		'"contained"',
		'"_birthDate"',
		'"valueString"',
		'[]',
		'{}',
	],
	fhir: [
		'{',
		'}',
		'[',
		']',
		',',
		':',
		'null',
		'-0',
		'1e999',
		'"\\ud800"',
		'"resourceType"',
		'"__proto__"',
		'"id"',
		'"contained"',
		'"Bundle"',
		'"batch"',
		'"urn:uuid:a"',
		'"reference"',
		'"#"',
		'"Patient/"',
		'"DELETE"',
		'"PATCH"',
		'"Patient?identifier=a|b"',
		'[]',
		'{}',
	],
	mpps: [
		'{',
		'}',
		'null',
		'"status"',
		'"DISCONTINUED"',
		'"attributes"',
		'"vr"',
		'"SQ"',
		'"Value"',
		'[[[[',
		'"00400270"',
		'"0020000D"',
		'-1',
		'1e9',
		'"\\u0000"',
		'"site_id"',
	],
	mllp: ['\x0b', '\x1c', '\r', '\x1c\r', '\x0b\x0b', '\x1c\x1c', '\n', 'MSH'],
	multipart: ['\r\n', '\r', '\n', '--', '--a-boundary', '--a-boundary--', 'Content-Type: a/b', '\r\n\r\n', ': ', '\0'],
	dicom: [
		'\xff\xff\xff\xff',
		'\xfe\xff\x00\xe0',
		'\xfe\xff\x0d\xe0',
		'\xfe\xff\xdd\xe0',
		'SQ',
		'UN',
		'OB',
		'DICM',
		'\x08\x00\x05\x00CS',
		'\x1b$B',
		'\\\\\\\\',
		'\x00\x00\x00\x00',
		'\x28\x00\x10\x00',
	],
	pdu: [
		'\x01\x00',
		'\x04\x00',
		'\x05\x00',
		'\x07\x00',
		'\xff\xff\xff\xff',
		'\x00\x00\x00\x00',
		'\x20\x00',
		'\x50\x00',
		'1.2.840.10008.1.1',
		'\x00\x00\x00\x01',
	],
};

const casesBytesMax = 65_536;

/** Inputs are cut up once, because that takes as long as a case. */
const cut = new WeakMap<Buffer, readonly string[]>();

function cutUp(format: Format, bytes: Buffer): readonly string[] {
	const known = cut.get(bytes);
	if (known !== undefined) return known;
	const how = partsOf[format];
	const text = bytes.toString('latin1');
	const parts = typeof how === 'function' ? how(text) : (text.match(how) ?? []);
	cut.set(bytes, parts);
	return parts;
}

/** Other bytes in the place of one. */
function bent(chance: Seeded, part: string): string {
	const copy = Buffer.from(part, 'latin1');
	if (copy.length === 0) return part;
	const at = chance.below(copy.length);
	const kind = chance.below(5);
	if (kind === 0) copy[at] = chance.below(256);
	else if (kind === 1) copy[at] = (copy[at] ?? 0) ^ (1 << chance.below(8));
	else if (kind === 2) copy.fill(chance.of([0, 0x20, 0x39, 0x7f, 0x80, 0xff]), at, Math.min(copy.length, at + 1 + chance.below(4)));
	else if (kind === 3) return part.slice(0, at);
	else return part + part.slice(at);
	return copy.toString('latin1');
}

function wordOf(format: Format, chance: Seeded): string {
	const word = chance.of(words[format]);
	return format === 'dicom' || format === 'pdu' ? word : Buffer.from(word).toString('latin1');
}

type Change = (parts: string[], chance: Seeded, format: Format, others: readonly Buffer[]) => void;

const changes: readonly Change[] = [
	(parts, chance) => void parts.splice(chance.below(parts.length), 1 + chance.below(3)),
	(parts, chance) => {
		const from = chance.below(parts.length);
		parts.splice(chance.below(parts.length), 0, ...parts.slice(from, from + 1 + chance.below(8)));
	},
	(parts, chance) => {
		const [one, other] = [chance.below(parts.length), chance.below(parts.length)];
		[parts[one], parts[other]] = [parts[other] ?? '', parts[one] ?? ''];
	},
	(parts, chance, format) => {
		parts[chance.below(parts.length)] = wordOf(format, chance);
	},
	(parts, chance, format) => void parts.splice(chance.below(parts.length), 0, wordOf(format, chance)),
	(parts, chance) => {
		const at = chance.below(parts.length);
		parts[at] = bent(chance, parts[at] ?? '');
	},
	(parts, chance) => {
		const at = chance.below(parts.length);
		const run = parts.slice(at, at + 1 + chance.below(4));
		const copies = chance.of([2, 8, 64, 256]);
		parts.splice(at, 0, ...Array.from({ length: copies }, () => run).flat());
	},
	(parts, chance, format, others) => {
		const other = cutUp(format, chance.of(others));
		const from = chance.below(Math.max(1, other.length));
		parts.splice(chance.below(parts.length), chance.below(3), ...other.slice(from, from + 1 + chance.below(20)));
	},
	(parts, chance) => void parts.splice(chance.below(parts.length)),
];

/** Makes a case of a format: a valid input whose parts are changed, some few times. */
export function mutated(format: Format, seeds: readonly Buffer[], chance: Seeded): Buffer {
	const parts = [...cutUp(format, chance.of(seeds))];
	for (let times = 1 + chance.below(5); times > 0 && parts.length > 0; times--) chance.of(changes)(parts, chance, format, seeds);
	return Buffer.from(parts.join('').slice(0, casesBytesMax), 'latin1');
}
