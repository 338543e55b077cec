import { createHash } from 'node:crypto';
import type { JsonObject } from '#core/json.ts';
import type { Context } from '#hl7v3/context.ts';
import type { XmlElement } from '#hl7v3/element.ts';
import { languageTag } from '#hl7v3/patient.ts';
import type { DocumentTime } from './times.ts';

/** One of DocumentReference.content, and the bytes that become its Binary; null where they lie elsewhere. */
export interface DocumentContent {
	content: JsonObject;
	bytes: Uint8Array | null;
}

/** The media type of CDA documents (IHE ITI TF-3, table 4.2.3.1.7-2, mimeType). */
const documentMediaType = 'text/xml';

/** The document itself. */
export function wholeDocument(document: XmlElement, bytes: Uint8Array, time: DocumentTime, title: string): DocumentContent {
	const language = document.first('languageCode')?.attribute('code') ?? '';
	const attachment: JsonObject = {
		contentType: documentMediaType,
		...(languageTag.test(language) ? { language } : {}),
		...described(bytes),
		...(title === '' ? {} : { title }),
		...(time.dateTime === undefined ? {} : { creation: time.dateTime }),
	};
	const format = formatOf(document);
	return { content: format === undefined ? { attachment } : { attachment, format }, bytes };
}

/** FHIR R4 Attachment: the hash is SHA-1, in base64. */
function described(bytes: Uint8Array): JsonObject {
	return { size: bytes.length, hash: createHash('sha1').update(bytes).digest('base64') };
}

const formatSystem = 'http://terminology.hl7.org/CodeSystem/v3-HL7DocumentFormatCodes';
/** US Realm Header (C-CDA), by the extension of its templateId. */
const usRealmHeader = '2.16.840.1.113883.10.20.22.1.1';

function formatOf(document: XmlElement): JsonObject | undefined {
	const templates = document.children('templateId').filter((template) => template.attribute('root') === usRealmHeader);
	if (templates.length === 0) return undefined;
	const extensions = templates.map((template) => template.attribute('extension'));
	const version = extensions.some((extension) => extension >= '2015-08-01') ? '2.1' : extensions.every((text) => text === '') ? '1.1' : '';
	if (version === '') return undefined;
	const body = document.first('component', 'nonXMLBody') ? 'nonXMLBody' : 'structuredBody';
	return { system: formatSystem, code: `urn:hl7-org:sdwg:ccda-${body}:${version}` };
}

const mediaType = /^[a-z0-9][a-z0-9!#$&^_.+-]{0,60}\/[a-z0-9][a-z0-9!#$&^_.+-]{0,100}$/i;
/** Matches a media type and captures the type itself. */
const parametersMax = 10;
const base64 = /^[A-Za-z0-9+/]*={0,2}$/;

/** component/nonXMLBody/text (CDA R2 §4.3.1): an embedded file, or where it lies. */
export function embeddedFile(document: XmlElement, context: Context): DocumentContent | undefined {
	const text = document.first('component', 'nonXMLBody', 'text');
	if (text === undefined || text.isNull) return undefined;
	const [named = '', ...parameters] = text.attribute('mediaType').split(';', parametersMax);
	const stated = named.trim();
	if (stated !== '' && !mediaType.test(stated)) context.unreadable(text, 'has a mediaType that is none; read as bytes');
	const contentType = mediaType.test(stated) ? stated.toLowerCase() : stated === '' ? 'text/plain' : 'application/octet-stream';
	const reference = text.first('reference');
	if (reference !== undefined) return referred(reference, contentType, context);
	if (text.attribute('compression') !== '') {
		context.skipped(text, 'compressed content is kept in the document alone');
		return undefined;
	}
	const raw = text.content.filter((node) => typeof node === 'string').join('');
	if (raw.trim() === '') return undefined;
	const isBase64 = text.attribute('representation') === 'B64' || !contentType.startsWith('text/');
	if (!isBase64) return embedded(Buffer.from(raw), `${contentType};charset=UTF-8`);
	const digits = raw.replaceAll(/\s+/g, '');
	if (!base64.test(digits) || digits.replace(/=+$/, '').length % 4 === 1) {
		context.unreadable(text, 'is not base64; it is kept in the document alone');
		return undefined;
	}
	return embedded(Buffer.from(digits, 'base64'), contentType.startsWith('text/') ? contentType + charsetIn(parameters) : contentType);
}

/** The bytes of a text are in its own encoding; what was characters of the document is not. */
function charsetIn(parameters: readonly string[]): string {
	for (const parameter of parameters) {
		const [, charset] = /^charset="?([\w.:+-]{1,40})"?$/i.exec(parameter.trim()) ?? [];
		if (charset !== undefined) return `;charset=${charset}`;
	}
	return '';
}

function embedded(bytes: Uint8Array, contentType: string): DocumentContent {
	return { content: { attachment: { contentType, ...described(bytes) } }, bytes };
}

/** A URL that means something elsewhere, too; a path beside the document is nothing that could be followed. */
function referred(reference: XmlElement, contentType: string, context: Context): DocumentContent | undefined {
	const url = reference.attribute('value');
	if (!/^https?:\/\/\S+$/i.test(url) || !URL.canParse(url)) {
		context.skipped(reference, 'only absolute http and https URLs are kept');
		return undefined;
	}
	return { content: { attachment: { contentType, url } }, bytes: null };
}
