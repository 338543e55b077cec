import { type FailureCode, type FailureLocation, failureCodes } from '#core/failure.ts';
import { hasNonAscii, resolveCharset } from './charset.ts';
import { type Delimiters, defaultDelimiters } from './delimiters.ts';
import { escapeText } from './escape.ts';
import { headerLine, openHeader } from './head.ts';
import type { Message } from './message.ts';

/** HL7 table 0008. */
export type AcknowledgementCode = 'AA' | 'AE' | 'AR' | 'CA' | 'CE' | 'CR';

interface Fault {
	readonly code: FailureCode;
	readonly diagnostics: string;
	readonly location?: FailureLocation | undefined;
}

export interface Acknowledgement {
	/** The message to be answered, or any other bytes. */
	source: Message | Uint8Array;
	code: AcknowledgementCode;
	/** MSH-10 of the answer. */
	controlId: string;
	nowMs: number;
	failure?: Fault | undefined;
	/** Faults that did not refuse the message: one ERR each, of severity W. */
	warnings?: readonly Fault[] | undefined;
	/** MSA-3 when there is no failure. */
	text?: string | undefined;
}

/** HL7 table 0357 (v2.5.1 §2.15.5.3), as far as `failureCodes` uses it. */
const conditionTexts: Readonly<Record<(typeof failureCodes)[FailureCode]['hl7'], string>> = {
	'100': 'Segment sequence error',
	'101': 'Required field missing',
	'102': 'Data type error',
	'103': 'Table value not found',
	'104': 'Value too long',
	'200': 'Unsupported message type',
	'201': 'Unsupported event code',
	'202': 'Unsupported processing id',
	'203': 'Unsupported version id',
	'204': 'Unknown key identifier',
	'205': 'Duplicate key identifier',
	'207': 'Application internal error',
};

/** Characters of MSA-3 and ERR-8. ERR-8 may have 250 in v2.5.1; MSA-3 has 80, which receivers do not enforce. */
const textMax = 250;

interface Sender {
	delimiters: Delimiters;
	/** `fields[n]` is MSH-n as sent. */
	fields: readonly string[];
}

const noSender: Sender = { delimiters: defaultDelimiters, fields: [] };

function senderOf(bytes: Uint8Array): Sender {
	const header = openHeader(bytes);
	if (header === undefined) return unusableSender(bytes);
	return { delimiters: header.delimiters, fields: ['', ...header.line.split(header.delimiters.field)] };
}

const separator = /^[!-/:-@[-`{-~]$/;

/** The fields of a header whose MSH-2 is unusable. Its MSH-1 is known, and so are the fields; nothing else is repeated from them. */
function unusableSender(bytes: Uint8Array): Sender {
	const line = headerLine(bytes) ?? '';
	const field = line.charAt(3);
	if (!separator.test(field)) return noSender;
	const fields: string[] = [];
	fields[10] = line.split(field, 10)[9] ?? '';
	const isFree = !'^~\\&'.includes(field);
	// An answer in other delimiters could not hold what a field of this message may hold.
	if (!isFree && /[|^~\\&]/.test(fields[10])) return noSender;
	return { delimiters: isFree ? { ...defaultDelimiters, field } : defaultDelimiters, fields };
}

/** Escaped text as the bytes of the sender's character set. */
function encoded(text: string, { delimiters, fields }: Sender, bytes: Uint8Array): string {
	const escaped = escapeText(text.length > textMax ? cut(text) : text, delimiters);
	if (!hasNonAscii(escaped)) return escaped;
	return resolveCharset((fields[18] ?? '').replaceAll(delimiters.repetition, '~'), bytes, false).charset.encode(escaped);
}

function cut(text: string): string {
	// The cut must not fall between the two halves of a character outside the basic plane.
	return text.slice(0, textMax).replace(/[\ud800-\udbff]$/, '');
}

function location({ segment, sequence, field, repetition, component }: FailureLocation, delimiters: Delimiters): string {
	if (segment === undefined) return '';
	const parts = [segment, sequence ?? 1, field ?? '', repetition ?? '', component ?? ''];
	while (parts.at(-1) === '') parts.pop();
	return parts.map((part) => escapeText(String(part), delimiters)).join(delimiters.component);
}

let lastMs = Number.NaN;
let lastTimestamp = '';

/** DTM with milliseconds in UTC, `20260131120000.000+0000`. */
function timestamp(nowMs: number): string {
	if (nowMs !== lastMs) {
		lastTimestamp = `${new Date(nowMs).toISOString().replace(/[-:TZ]/g, '')}+0000`;
		lastMs = nowMs;
	}
	return lastTimestamp;
}

/**
 * MSH-10 of an answer, which has 20 characters in v2.5.1: the time and counter of the id of what is answered (UUID version 7), a few of its
 * random digits, and the kind of answer, since one message may have two. Those to the further parts of a message have the part's number.
 */
export function acknowledgementId(id: string, code: AcknowledgementCode, part = 0): string {
	const digits = id.replaceAll('-', '');
	return part === 0 ? `${digits.slice(0, 18)}${code}` : `${digits.slice(0, 14)}${String(part % 10_000).padStart(4, '0')}${code}`;
}

/**
 * Renders the acknowledgement of a message (v2.5.1 §2.9.2): the sender's delimiters, version, processing id and character set, applications
 * and
 * facilities swapped, MSH-10 copied to MSA-2 byte for byte; with a failure also ERR.
 * Bytes that are no message are answered with the usual delimiters and an empty MSA-2.
 */
export function renderAck({ source, code, controlId, nowMs, failure, warnings = [], text }: Acknowledgement): Uint8Array {
	const bytes = source instanceof Uint8Array ? source : source.bytes;
	const sender = senderOf(bytes);
	const { delimiters, fields } = sender;
	const { field: f, component: c } = delimiters;
	const event = firstRepetition(fields[9] ?? '', delimiters).split(c, 2)[1] ?? '';
	const type = event === '' ? 'ACK' : `ACK${c}${event}${c}ACK`;
	const charset = fields[18] ? `${f.repeat(6)}${fields[18]}` : '';
	const encoding = c + delimiters.repetition + delimiters.escape + delimiters.subcomponent + delimiters.truncation;
	const receiver = `${fields[5] ?? ''}${f}${fields[6] ?? ''}${f}${fields[3] ?? ''}${f}${fields[4] ?? ''}`;
	const id = escapeText(controlId, delimiters);
	const header = `MSH${f}${encoding}${f}${receiver}${f}${timestamp(nowMs)}${f}${f}${type}${f}${id}`;
	const trailer = `${f}${fields[11] || 'P'}${f}${fields[12] || '2.5.1'}${charset}\r`;
	const diagnostics = failure?.diagnostics ?? text ?? '';
	const note = diagnostics === '' ? '' : encoded(diagnostics, sender, bytes);
	let result = `${header}${trailer}MSA${f}${code}${f}${fields[10] ?? ''}${note === '' ? '' : f + note}\r`;
	if (failure !== undefined) result += error(failure, 'E', note, delimiters);
	for (const warning of warnings) result += error(warning, 'W', encoded(warning.diagnostics, sender, bytes), delimiters);
	return Buffer.from(result, 'latin1');
}

/** ERR (v2.5.1 §2.15.5); `severity` is of table 0516, `note` is escaped. */
function error(fault: Fault, severity: 'E' | 'W', note: string, delimiters: Delimiters): string {
	const { field: f, component: c } = delimiters;
	const { hl7 } = failureCodes[fault.code];
	const where = fault.location === undefined ? '' : location(fault.location, delimiters);
	return `ERR${f}${f}${where}${f}${hl7}${c}${conditionTexts[hl7]}${c}HL70357${f}${severity}${f}${f}${f}${f}${note}\r`;
}

function firstRepetition(raw: string, { repetition }: Delimiters): string {
	const end = raw.indexOf(repetition);
	return end === -1 ? raw : raw.slice(0, end);
}
