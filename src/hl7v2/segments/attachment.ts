import type { Attachment, Extension } from '#fhir/datatypes.ts';
import type { Segment } from '../message.ts';
import { type Context, failureAt, nameOf } from './context.ts';
import { beginsAs } from './file-signatures.ts';

/**
 * ED (v2.5.1 §2.A.24) and RP (§2.A.64). R4 has no valueAttachment: R5's is carried by the cross-version extension, as the
 * v2-to-FHIR guide does.
 */
const attachmentUrl = 'http://hl7.org/fhir/5.0/StructureDefinition/extension-Observation.value';

/** Maps table 0291 and MIME subtypes to media types. */
const mediaTypes: Readonly<Record<string, string>> = {
	PDF: 'application/pdf',
	HTML: 'text/html',
	HTM: 'text/html',
	XML: 'application/xml',
	'X-HL7-CDA-LEVEL-ONE': 'application/hl7-sda+xml',
	RTF: 'application/rtf',
	SGML: 'text/sgml',
	PLAIN: 'text/plain',
	TEXT: 'text/plain',
	TXT: 'text/plain',
	JSON: 'application/json',
	BASIC: 'audio/basic',
	MPEG: 'video/mpeg',
	MP4: 'video/mp4',
	POSTSCRIPT: 'application/postscript',
	PS: 'application/postscript',
	MSWORD: 'application/msword',
	DOC: 'application/msword',
	'OCTET-STREAM': 'application/octet-stream',
	DICOM: 'application/dicom',
	DCM: 'application/dicom',
	JPEG: 'image/jpeg',
	JPG: 'image/jpeg',
	JP2: 'image/jp2',
	PNG: 'image/png',
	GIF: 'image/gif',
	TIFF: 'image/tiff',
	TIF: 'image/tiff',
	BMP: 'image/bmp',
	SVG: 'image/svg+xml',
	'SVG+XML': 'image/svg+xml',
	WEBP: 'image/webp',
};

/** Types of data (table 0191, and DICOM) that are images whatever the subtype says. */
const imageTypes: ReadonlySet<string> = new Set(['IM', 'NS', 'SI', 'DICOM']);

const namesMediaType = /^[^\s/]+\/[^\s/]+$/;
/** Top-level media types (RFC 6838 §4.2), but `image`: a pointer of a type that no browser shows, such as `image^PICT`, has none. */
const topLevels: ReadonlySet<string> = new Set(['text', 'audio', 'video', 'application', 'multipart', 'model', 'font']);
/** A subtype (RFC 6838 §4.2). */
const restrictedName = /^[a-z0-9][a-z0-9!#$&^_.+-]{0,126}$/;

/** The media type by ED-2 and ED-3: that of the subtype if it is listed, since senders write `TEXT^PDF`, else the two as MIME has them. */
function mediaType(type: string, subtype: string): string | undefined {
	if (namesMediaType.test(subtype)) return subtype.toLowerCase();
	const listed = Object.hasOwn(mediaTypes, subtype.toUpperCase()) ? mediaTypes[subtype.toUpperCase()] : undefined;
	const [top, sub] = [type.toLowerCase(), subtype.toLowerCase()];
	// MPEG and MP4 hold sound alone, too. AU is audio in table 0191.
	if (listed !== undefined) return top === 'audio' || top === 'au' ? listed.replace(/^video\//, 'audio/') : listed;
	if (topLevels.has(top) && restrictedName.test(sub)) return `${top}/${sub}`;
	return namesMediaType.test(type) ? type.toLowerCase() : undefined;
}

/** @throws Failure `business-rule`: images arrive through DICOM (SPEC §1) */
function refuseImage(obx: Segment, contentType: string | undefined, isImageType: boolean): void {
	if (!isImageType && contentType !== 'application/dicom' && !contentType?.startsWith('image/')) return;
	throw failureAt('business-rule', obx, 5, `${nameOf(obx)}-5 carries an image: HL7 imports no images, they arrive through DICOM`);
}

/** The encodings of table 0299 that cannot be taken for anything else. */
const encodings: ReadonlySet<string> = new Set(['BASE64', 'HEX']);

/** ED-4, the encoding, which the data follow; from senders who leave out ED-1 or ED-2 it stands earlier. */
function encodingOf(obx: Segment, repetition: number): number {
	if (obx.text(5, 5, repetition) !== '') return 4;
	const early = [1, 2, 3].find(
		(component) =>
			encodings.has(obx.text(5, component, repetition).trim().toUpperCase()) && obx.text(5, component + 1, repetition).trim() !== '',
	);
	return early ?? 4;
}

/** A PDF file in base64, of which some senders make the whole field. */
const bare = /^\s*JVBERi0/;

/** Converts ED; undefined when it has no data. @throws Failure an image, or data that is not in its encoding */
export function encapsulatedData(obx: Segment, repetition: number, context: Context): Extension | undefined {
	const at = encodingOf(obx, repetition);
	const [type = '', subtype = '', encoding = ''] = [at - 2, at - 1, at].map((component) =>
		component < 1 ? '' : obx.text(5, component, repetition).trim(),
	);
	const isBare = obx.components(5, repetition) === 1 && bare.test(obx.text(5, 1, repetition));
	// Data without an encoding may have delimiters that the sender did not escape. Nothing stands behind the data.
	const isEncoded = isBare || encodings.has(encoding.toUpperCase());
	const data = isEncoded ? obx.text(5, isBare ? 1 : at + 1, repetition) : obx.displayFrom(5, at + 1, repetition);
	const contentType = isBare ? 'application/pdf' : mediaType(type, subtype);
	const isImage = (imageTypes.has(type.toUpperCase()) || type.toUpperCase() === 'IMAGE') && data !== '';
	refuseImage(obx, contentType, isImage);
	if (data === '') return undefined;
	// Data must have a type (att-1); the type of plain bytes is enough.
	const attachment: Attachment = { contentType: contentType ?? 'application/octet-stream' };
	attachment.data = base64Of(obx, isBare ? 'BASE64' : encoding, data, contentType ?? '', context);
	refuseImage(obx, undefined, holdsImage(attachment.data));
	return { url: attachmentUrl, valueAttachment: attachment };
}

/** RP: a pointer. A subtype without a known media type is kept as a pointer without one, also behind the word `image` (`image^PICT`). */
export function referencePointer(obx: Segment, repetition: number): Extension | undefined {
	const pointer = obx.whole(5, 1, repetition).trim();
	const type = obx.text(5, 3, repetition).trim();
	const contentType = mediaType(type, obx.text(5, 4, repetition).trim());
	refuseImage(obx, contentType, imageTypes.has(type.toUpperCase()) && pointer !== '');
	if (pointer === '') return undefined;
	const attachment: Attachment = {};
	if (contentType !== undefined) attachment.contentType = contentType;
	attachment.url = pointer.replace(/\s/g, (space) => encodeURIComponent(space));
	return { url: attachmentUrl, valueAttachment: attachment };
}

/** The beginnings of JPEG, PNG, GIF, TIFF (in either byte order) and DICOM (PS3.10 §7.1, after its preamble) files, as Latin-1. */
const imageSignatures = ['\xff\xd8\xff', '\x89PNG\r\n\x1a\n', 'GIF87a', 'GIF89a', 'II*\0', 'MM\0*'];
/** PS3.10 §7.1 */
const dicomPreamble = 128;
/** The base64 length of the first 132 bytes. */
const signatureLength = 176;

function holdsImage(base64: string): boolean {
	const beginning = Buffer.from(base64.slice(0, signatureLength), 'base64').toString('latin1');
	return beginning.startsWith('DICM', dicomPreamble) || imageSignatures.some((signature) => beginning.startsWith(signature));
}

/** Base64 by other names than that of table 0299. */
const misspelt = /^(?:b64|base[-_ ]64)$/i;

/** Table 0299. FHIR holds base64 alone. A file of the type that is stated is in base64 already, even if ED-4 does not say so. */
function base64Of(obx: Segment, encoding: string, data: string, contentType: string, context: Context): string {
	switch (encoding.trim().toUpperCase()) {
		case 'BASE64':
			return checkedBase64(obx, data);
		case 'HEX': {
			const digits = withoutSpace(data);
			if (digits.length % 2 === 0 && /^[0-9A-Fa-f]*$/.test(digits)) return Buffer.from(digits, 'hex').toString('base64');
			throw failureAt('data-type', obx, 5, `${nameOf(obx)}-5 is not hexadecimal as its encoding says`);
		}
		default: {
			const text = withoutSpace(data);
			if (!(misspelt.test(encoding) || beginsAs(text, contentType)) || !isBase64(text)) return Buffer.from(data, 'utf8').toString('base64');
			context.unreadable(obx, 5, 'names no encoding of table 0299 (ED-4); its data were read as base64');
			return text;
		}
	}
}

function checkedBase64(obx: Segment, data: string): string {
	const text = withoutSpace(data);
	if (isBase64(text)) return text;
	throw failureAt('data-type', obx, 5, `${nameOf(obx)}-5 is not base64 as its encoding says`);
}

function isBase64(text: string): boolean {
	return text.length % 4 === 0 && /^[A-Za-z0-9+/]*={0,2}$/.test(text);
}

function withoutSpace(text: string): string {
	return /\s/.test(text) ? text.replace(/\s+/g, '') : text;
}
