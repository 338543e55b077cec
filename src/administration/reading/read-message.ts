import { Failure } from '#core/failure.ts';
import { parseExact } from '#core/json.ts';
import type { Hl7v2Limits } from '#hl7v2/limits.ts';
import { Message } from '#hl7v2/message.ts';
import type { XmlLimits } from '#hl7v3/limits.ts';
import { readXml } from '#hl7v3/read.ts';
import { readHl7v2 } from './hl7v2.ts';
import { hl7v2Names } from './hl7v2-names.ts';
import { Budget, type Reading, type ReadingLimits } from './reading.ts';
import { readXmlTree } from './xml.ts';

type MessageLimits = ReadingLimits & XmlLimits & Pick<Hl7v2Limits, 'segmentsMax'>;

/**
 * Renders a received message or its answer for people to read. A message that cannot be parsed is shown as text. `charset` is that of the
 * sender's settings, which holds for HL7 v2 whatever MSH-18 says.
 */
export function readMessage(bytes: Uint8Array, limits: MessageLimits, charset?: string): Reading {
	const start = Buffer.from(bytes.buffer, bytes.byteOffset, Math.min(bytes.length, 512))
		.toString('latin1')
		.replace(/^(?:\xef\xbb\xbf)?[\s\v]*/, '');
	return structured(bytes, start, limits, charset) ?? textOf(bytes, limits);
}

function structured(bytes: Uint8Array, start: string, limits: MessageLimits, charset: string | undefined): Reading | undefined {
	try {
		if (start.startsWith('MSH')) {
			return readHl7v2(Message.parse(bytes, { segmentsMax: limits.segmentsMax, charset }), hl7v2Names(), limits);
		}
		if (start.startsWith('<') || /^(?:\xff\xfe|\xfe\xff)/.test(start)) return readXmlTree(readXml(bytes, limits), limits);
		if (start.startsWith('{') || start.startsWith('[')) return jsonOf([], decoded(bytes), limits);
		return requestOf(bytes, start, limits);
	} catch (error) {
		// A malformed message is shown as it was received.
		if (error instanceof Failure || error instanceof SyntaxError) return undefined;
		throw error;
	}
}

/** Reads a logged FHIR request, which has a head and a body (fhir/write/request). */
function requestOf(bytes: Uint8Array, start: string, limits: MessageLimits): Reading | undefined {
	if (!/^(?:POST|PUT|PATCH|DELETE) /.test(start)) return undefined;
	const text = decoded(bytes);
	const end = text.indexOf('\r\n\r\n');
	if (end < 0) return undefined;
	const head = text.slice(0, end).split('\r\n');
	const body = text.slice(end + 4);
	try {
		return jsonOf(head, body, limits);
	} catch (error) {
		if (!(error instanceof SyntaxError)) throw error;
		return { format: 'json', head, ...cut(body, limits) };
	}
}

function jsonOf(head: string[], text: string, limits: ReadingLimits): Reading {
	return { format: 'json', head, ...cut(JSON.stringify(parseExact(text), shortened(new Budget(limits)), 2), limits) };
}

/** Shortens long values, such as base64 attachments. */
function shortened(budget: Budget) {
	return (_name: string, value: unknown) => {
		if (typeof value !== 'string') return value;
		const { value: shown, length } = budget.cut(value);
		return shown.length < length ? `${shown} (${length} characters)` : value;
	};
}

function textOf(bytes: Uint8Array, limits: ReadingLimits): Reading {
	return { format: 'text', ...cut(decoded(bytes).replaceAll('\u001c', '\n').replaceAll(/\r\n?/g, '\n'), limits) };
}

/** The whole text may be as long as all of its values together. */
function cut(text: string, { readingValuesMax, readingCharactersMax }: ReadingLimits): { text: string; is_cut: boolean } {
	const charactersMax = Math.max(readingValuesMax * 50, readingCharactersMax);
	if (text.length <= charactersMax) return { text, is_cut: false };
	return { text: text.slice(0, charactersMax).toWellFormed(), is_cut: true };
}

function decoded(bytes: Uint8Array): string {
	const text = new TextDecoder('utf-8').decode(bytes);
	return text.includes('\ufffd') ? Buffer.from(bytes).toString('latin1') : text;
}
