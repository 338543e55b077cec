import { interpretDocument, type ReadEntries } from '#cda/interpret.ts';
import { receive } from '#hl7v3/interpret.ts';
import type { ChangeSet } from '#record/change-set.ts';
import type { DocumentEntry } from '#record/document.ts';
import type { Settings } from '#record/settings/settings.ts';
import { defaultLimits } from '../../src/limits.ts';

/** A document of the tests: what is not given has a value of its own. */
export interface TestDocument {
	/** Attributes of the document's id. */
	id?: string;
	/** Attributes of setId. */
	set?: string;
	version?: number | string;
	effectiveTime?: string;
	/** Content of each patientRole, one recordTarget for each. */
	patients?: readonly string[];
	/** Between languageCode and recordTarget, and between custodian and component. */
	header?: string;
	participants?: string;
	/** The body component. */
	body?: string;
	templates?: string;
	title?: string;
}

export const grace = (extension: string) =>
	`<id root="1.2.3" extension="${extension}"/><addr use="HP"><city>Arlington</city></addr><telecom use="HP" value="tel:+1-555"/>` +
	`<patient><name use="L"><given>Grace</given><family>Hopman</family></name><administrativeGenderCode code="F" ` +
	`codeSystem="2.16.840.1.113883.5.1"/><birthTime value="19061209"/></patient>`;

const emptyBody =
	'<component><structuredBody><component><section><title>S</title><text>t</text></section></component></structuredBody></component>';

export function clinicalDocument(document: TestDocument = {}): string {
	const { id = 'root="1.2.3.4" extension="D1"', set, version, effectiveTime = '20260110083000+0100', patients = [grace('G1')] } = document;
	const { header = '', participants = '', body = emptyBody, templates = '', title = 'Summary' } = document;
	const targets = patients.map((patient) => `<recordTarget><patientRole>${patient}</patientRole></recordTarget>`).join('');
	return (
		'<?xml version="1.0" encoding="UTF-8"?>\n<ClinicalDocument xmlns="urn:hl7-org:v3" xmlns:sdtc="urn:hl7-org:sdtc" ' +
		'xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance"><typeId root="2.16.840.1.113883.1.3" extension="POCD_HD000040"/>' +
		`${templates}<id ${id}/><code code="34133-9" codeSystem="2.16.840.1.113883.6.1" displayName="Summarization of Episode Note"/>` +
		`<title>${title}</title><effectiveTime value="${effectiveTime}"/><confidentialityCode code="N" codeSystem="2.16.840.1.113883.5.25"/>` +
		`<languageCode code="en-US"/>${set === undefined ? '' : `<setId ${set}/>`}` +
		`${version === undefined ? '' : `<versionNumber value="${version}"/>`}${header}${targets}` +
		'<author><time value="20260110"/><assignedAuthor><id root="2.16.840.1.113883.4.6" extension="999"/><assignedPerson><name><given>Ada</given>' +
		'<family>Lovemore</family></name></assignedPerson></assignedAuthor></author><custodian><assignedCustodian>' +
		'<representedCustodianOrganization><id root="1.9"/><name>General</name></representedCustodianOrganization></assignedCustodian></custodian>' +
		`${participants}${body}</ClinicalDocument>`
	);
}

export const relatedDocument = (typeCode: string, parent: string) =>
	`<relatedDocument typeCode="${typeCode}"><parentDocument>${parent}</parentDocument></relatedDocument>`;

/** What a document does to the record, with entries of the test's own. */
export function read(text: string | Uint8Array, entries: readonly DocumentEntry[] | ReadEntries = [], settings: Settings = {}): ChangeSet {
	const bytes = typeof text === 'string' ? Buffer.from(text) : text;
	const readEntries = typeof entries === 'function' ? entries : () => [...entries];
	return interpretDocument(receive(bytes, defaultLimits), bytes, {
		settings: { time_zone: 'UTC', ...settings },
		hostTimeZone: 'UTC',
		limits: defaultLimits,
		readEntries,
	});
}

export function condition(item: string, text = item): DocumentEntry {
	const clinicalStatus = { coding: [{ system: 'http://terminology.hl7.org/CodeSystem/condition-clinical', code: 'active' }] };
	return { resourceType: 'Condition', item, resource: { clinicalStatus, code: { text } } };
}

export function observation(item: string, value: string, members: readonly string[] = []): DocumentEntry {
	const resource = { status: 'final', code: { text: item }, valueString: value };
	const hasMember = members.map((member) => ({ resourceType: 'Observation' as const, item: member }));
	return { resourceType: 'Observation', item, resource, refers: { hasMember } };
}
