import type { CodeableConcept, Coding, Extension } from '#fhir/datatypes.ts';
import { v2Table } from '#fhir/mapping/coding-system.ts';
import { entryOf } from '#fhir/mapping/table.ts';
import type { ResourcePatch } from '#record/change-set.ts';
import type { Segment } from '../message.ts';
import { codeableConcept, codeableConcepts } from './datatypes/cwe.ts';
import { humanName } from './datatypes/xpn.ts';

const core = 'http://hl7.org/fhir/StructureDefinition/';
const usCore = 'http://hl7.org/fhir/us/core/StructureDefinition/';
const cdcRaceAndEthnicity = 'urn:oid:2.16.840.1.113883.6.238';

type Read = (pid: Segment, field: number, url: string, zone: string) => Extension[];

/** PID fields that FHIR R4 holds as extensions of Patient. */
const fields: readonly { field: number; url: string; read: Read }[] = [
	{ field: 6, url: `${core}patient-mothersMaidenName`, read: mothersMaidenName },
	{ field: 10, url: `${usCore}us-core-race`, read: race },
	{ field: 17, url: `${core}patient-religion`, read: religion },
	{ field: 22, url: `${usCore}us-core-ethnicity`, read: ethnicity },
	{ field: 23, url: `${core}patient-birthPlace`, read: birthPlace },
	{ field: 26, url: `${core}patient-citizenship`, read: withCode },
	{ field: 28, url: `${core}patient-nationality`, read: withCode },
];

export function patientExtensions(pid: Segment, zone: string): ResourcePatch['parts'][string] | undefined {
	let parts: ResourcePatch['parts'][string] | undefined;
	for (const { field, url, read } of fields) {
		if (!pid.isPresent(field)) continue;
		const list = pid.isNull(field) ? null : read(pid, field, url, zone);
		if (list !== null && list.length === 0) continue;
		parts ??= {};
		parts[url] = list;
	}
	return parts;
}

/** The extension holds a string: the surname, else the whole name. */
function mothersMaidenName(pid: Segment, field: number, url: string, zone: string): Extension[] {
	const name = humanName(pid, field, 0, zone);
	const valueString = name?.family ?? name?.text;
	return valueString === undefined ? [] : [{ url, valueString }];
}

function religion(pid: Segment, field: number, url: string): Extension[] {
	const concept = codeableConcept(pid, field, 0, v2Table('0006'));
	return concept === undefined ? [] : [{ url, valueCodeableConcept: concept }];
}

function birthPlace(pid: Segment, field: number, url: string): Extension[] {
	const text = pid.text(field).trim();
	return text === '' ? [] : [{ url, valueAddress: { text } }];
}

function withCode(pid: Segment, field: number, url: string): Extension[] {
	const concepts = codeableConcepts(pid, field) ?? [];
	return concepts.map((concept) => ({ url, extension: [{ url: 'code', valueCodeableConcept: concept }] }));
}

/** The five categories of the Office of Management and Budget; table 0005 uses the same codes. */
const raceCategories: ReadonlySet<string> = new Set(['1002-5', '2028-9', '2054-5', '2076-8', '2106-3']);
const ethnicityCategories: ReadonlySet<string> = new Set(['2135-2', '2186-5']);
/** Table 0189. */
const ethnicityOf: Readonly<Record<string, Coding>> = {
	H: { system: cdcRaceAndEthnicity, code: '2135-2', display: 'Hispanic or Latino' },
	N: { system: cdcRaceAndEthnicity, code: '2186-5', display: 'Not Hispanic or Latino' },
};

function race(pid: Segment, field: number, url: string): Extension[] {
	return categories(codeableConcepts(pid, field) ?? [], url, (coding) =>
		isCdcCode(coding.code) ? categorized(coding, raceCategories) : undefined,
	);
}

function ethnicity(pid: Segment, field: number, url: string): Extension[] {
	return categories(codeableConcepts(pid, field) ?? [], url, (coding) => {
		const translated = coding.code === undefined ? undefined : entryOf(ethnicityOf, coding.code);
		if (translated) return { url: 'ombCategory', valueCoding: translated };
		return isCdcCode(coding.code) ? categorized(coding, ethnicityCategories) : undefined;
	});
}

function isCdcCode(code: string | undefined): boolean {
	return code !== undefined && /^\d{4}-\d$/.test(code);
}

function categorized(coding: Coding, ombCodes: ReadonlySet<string>): Extension {
	const valueCoding: Coding = { ...coding, system: cdcRaceAndEthnicity };
	return { url: ombCodes.has(coding.code ?? '') ? 'ombCategory' : 'detailed', valueCoding };
}

/** One extension for the whole field; `text` is required there, so codes that are not the CDC's are kept in it. */
function categories(concepts: readonly CodeableConcept[], url: string, read: (coding: Coding) => Extension | undefined): Extension[] {
	if (concepts.length === 0) return [];
	const extension: Extension[] = [];
	const texts: string[] = [];
	for (const concept of concepts) {
		const coding = concept.coding?.[0];
		const category = coding && read(coding);
		if (category) extension.push(category);
		texts.push(concept.text ?? category?.valueCoding?.display ?? coding?.code ?? '');
	}
	extension.push({ url: 'text', valueString: texts.filter((text) => text !== '').join(', ') });
	return [{ url, extension }];
}
