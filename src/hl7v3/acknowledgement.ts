import { type FailureCode, type FailureLocation, failureCodes } from '#core/failure.ts';
import type { XmlElement } from './element.ts';
import { type Envelope, escapeXml, wrap } from './envelope.ts';

/** HL7 v3 AcknowledgementType (2.16.840.1.113883.5.18). */
export type AcknowledgementCode = 'AA' | 'AE' | 'CA' | 'CE' | 'CR';

export interface Acknowledgement {
	/** The message that is answered; undefined if nothing could be read. */
	message: XmlElement | undefined;
	envelope: Envelope | undefined;
	code: AcknowledgementCode;
	/** Root of the answer's id: a UUID. */
	id: string;
	nowMs: number;
	failure?: { readonly code: FailureCode; readonly diagnostics: string; readonly location?: FailureLocation | undefined } | undefined;
}

export const acknowledgementName = 'MCCI_IN000002UV01';
const interactionRoot = '2.16.840.1.113883.1.6';
/** AcknowledgementDetailCode (2.16.840.1.113883.5.1100), as far as the kinds of failure have one; others are INTERR. */
const detailCodes: Readonly<Partial<Record<FailureCode, string>>> = {
	'not-hl7': 'SYN',
	invalid: 'SYN',
	'segment-sequence': 'SYN100',
	'required-field-missing': 'SYN105',
	'data-type': 'SYN102',
	'table-value': 'SYN103',
	'value-too-long': 'SYN',
	'unsupported-message-type': 'NS200',
	'unsupported-event': 'NS200',
	'unknown-key': 'KEY204',
	'ambiguous-key': 'KEY205',
	'key-conflict': 'KEY205',
};

/**
 * Renders the acknowledgement: an accept acknowledgement if acceptAckCode asks for one on this outcome, else an application
 * acknowledgement. CR means that such messages are never taken, CE that this one is wrong.
 */
export function codeOf(acceptAckCode: string, failure: FailureCode | undefined): AcknowledgementCode {
	const refused = failure !== undefined;
	const wanted = acceptAckCode === 'AL' || acceptAckCode === (refused ? 'ER' : 'SU');
	if (!wanted) return refused ? 'AE' : 'AA';
	if (!refused) return 'CA';
	return failure === 'not-hl7' || failure === 'unsupported-message-type' ? 'CR' : 'CE';
}

/** Renders MCCI_IN000002UV01 in the order of its schema, in UTF-8 and in an envelope where the message came in one. */
export function renderAcknowledgement({ message, envelope, code, id, nowMs, failure }: Acknowledgement): Uint8Array {
	const processing = message?.first('processingCode')?.attribute('code') || 'P';
	const mode = message?.first('processingModeCode')?.attribute('code') || 'T';
	const answer = [
		`<${acknowledgementName} xmlns="urn:hl7-org:v3" ITSVersion="XML_1.0">`,
		`<id root="${id}"/>`,
		`<creationTime value="${timestamp(nowMs)}"/>`,
		`<interactionId root="${interactionRoot}" extension="${acknowledgementName}"/>`,
		`<processingCode code="${escapeXml(processing)}"/>`,
		`<processingModeCode code="${escapeXml(mode)}"/>`,
		'<acceptAckCode code="NE"/>',
		party('receiver', 'RCV', message?.first('sender', 'device')),
		party('sender', 'SND', message?.first('receiver', 'device')),
		'<acknowledgement>',
		`<typeCode code="${code}"/>`,
		`<targetMessage>${instanceIdentifier(message?.first('id'))}</targetMessage>`,
		failure === undefined ? '' : detail(failure),
		'</acknowledgement>',
		`</${acknowledgementName}>`,
	].join('');
	const body = envelope === undefined ? answer : wrap(answer, envelope, `urn:hl7-org:v3:${acknowledgementName}`);
	return Buffer.from(`<?xml version="1.0" encoding="UTF-8"?>\n${body}\n`);
}

/** TS in UTC, `20260131120000+0000`. */
function timestamp(nowMs: number): string {
	return `${new Date(nowMs).toISOString().slice(0, 19).replace(/[-:T]/g, '')}+0000`;
}

/** A device of the message in the other part: its ids, its name, and the organization for which it acts. */
function party(element: 'receiver' | 'sender', typeCode: string, device: XmlElement | undefined): string {
	const ids = device?.children('id') ?? [];
	const organization = device?.first('asAgent', 'representedOrganization');
	const content = [
		ids.length === 0 ? instanceIdentifier(undefined) : ids.map(instanceIdentifier).join(''),
		...(device?.children('name') ?? []).map(({ text }) => (text === '' ? '' : `<name>${escapeXml(text)}</name>`)),
		organization?.first('id') ? agent(organization) : '',
	].join('');
	return `<${element} typeCode="${typeCode}"><device classCode="DEV" determinerCode="INSTANCE">${content}</device></${element}>`;
}

function agent(organization: XmlElement): string {
	const ids = organization.children('id').map(instanceIdentifier).join('');
	return `<asAgent classCode="AGNT"><representedOrganization classCode="ORG" determinerCode="INSTANCE">${ids}</representedOrganization></asAgent>`;
}

/** An id as it was sent; one that is missing is said to be so. */
function instanceIdentifier(id: XmlElement | undefined): string {
	if (id === undefined) return '<id nullFlavor="NI"/>';
	const attributes = ['nullFlavor', 'root', 'extension', 'assigningAuthorityName']
		.filter((name) => id.attributes[name] !== undefined)
		.map((name) => ` ${name}="${escapeXml(id.attributes[name] ?? '')}"`);
	return attributes.length === 0 ? '<id nullFlavor="NI"/>' : `<id${attributes.join('')}/>`;
}

function detail({ code, diagnostics, location }: NonNullable<Acknowledgement['failure']>): string {
	const { hl7 } = failureCodes[code];
	const where = location?.expression === undefined ? '' : `<location>${escapeXml(location.expression)}</location>`;
	const found = detailCodes[code] ?? 'INTERR';
	const coded = `<code code="${found}" codeSystem="2.16.840.1.113883.5.1100"><translation code="${hl7}" codeSystem="2.16.840.1.113883.12.357"/></code>`;
	return `<acknowledgementDetail typeCode="E">${coded}<text>${escapeXml(diagnostics)}</text>${where}</acknowledgementDetail>`;
}
