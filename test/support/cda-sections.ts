import assert from 'node:assert/strict';
import { readEntries } from '#cda/entries.ts';
import type { JsonObject } from '#core/json.ts';
import { type ValidationIssue, validateResource } from '#fhir/validation/validate.ts';
import { Context, documentFlagsMax } from '#hl7v3/context.ts';
import type { XmlLimits } from '#hl7v3/limits.ts';
import { readXml } from '#hl7v3/read.ts';
import type { DocumentEntry } from '#record/document.ts';
import { defaultLimits } from '../../src/limits.ts';
import { assertEmitted } from './emitted.ts';

/** Template roots of C-CDA entries and sections by their last numbers. */
export const entryTemplate = (...ids: (string | number)[]) =>
	ids.map((id) => `<templateId root="2.16.840.1.113883.10.20.22.4.${id}"/>`).join('');
const loinc = '2.16.840.1.113883.6.1';

/** A section of this LOINC code. */
export function section(code: string, entries: string, text = '', more = ''): string {
	const narrative = text === '' ? '' : `<text>${text}</text>`;
	return `<component><section><code code="${code}" codeSystem="${loinc}"/><title>Title ${code}</title>${narrative}${entries}${more}</section></component>`;
}

export function entry(statement: string): string {
	return `<entry>${statement}</entry>`;
}

/** A document with these sections; `header` stands before its body. */
export function clinicalDocument(sections: string, header = '<id root="1.9" extension="D1"/><code code="34133-9"/>'): string {
	return (
		'<ClinicalDocument xmlns="urn:hl7-org:v3" xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance" xmlns:sdtc="urn:hl7-org:sdtc">' +
		`${header}<component><structuredBody>${sections}</structuredBody></component></ClinicalDocument>`
	);
}

export interface ReadDocument {
	entries: DocumentEntry[];
	flags: string[];
}

export function readDocument(document: string | Uint8Array, limits: XmlLimits = defaultLimits): ReadDocument {
	const context = new Context(undefined, 'Z', documentFlagsMax);
	const entries = readEntries(readXml(Buffer.from(document as string), limits), context);
	return { entries, flags: context.flags.map(({ text }) => text) };
}

/** The resource as it is once it belongs to a patient. */
export function completed({ resourceType, resource, refers }: DocumentEntry): JsonObject {
	const patient = { reference: 'Patient/019a2b3c-0000-7000-8000-000000000000' };
	const owner = resourceType === 'AllergyIntolerance' ? { patient } : { subject: patient };
	const references = Object.entries(refers ?? {}).map(([element, list]) => [
		element,
		list.map((reference) => ({ reference: `${reference.resourceType}/019a2b3c-0000-7000-8000-000000000001` })),
	]);
	return { resourceType, ...resource, ...owner, ...Object.fromEntries(references) };
}

/** What two validators find wrong; the other one is slow, and asked only where it is wanted. */
export function faultsOf(entries: readonly DocumentEntry[], alsoIndependently = true): ValidationIssue[] {
	return entries.flatMap((one) => {
		const resource = completed(one);
		if (alsoIndependently) assertEmitted(JSON.parse(JSON.stringify(resource)));
		return validateResource(resource);
	});
}

/** The resources of a document's sections, checked to be valid. */
export function resourcesOf(sections: string, header?: string): JsonObject[] {
	const { entries } = readDocument(clinicalDocument(sections, header));
	assert.deepEqual(faultsOf(entries), []);
	// Decimals that keep their digits are compared as numbers.
	return entries.map(({ resource }) => JSON.parse(JSON.stringify(resource)));
}
