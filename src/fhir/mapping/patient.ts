import type { Json, JsonObject } from '#core/json.ts';
import type { Identifier } from '#record/resource-patch.ts';
import { v2Table } from './coding-system.ts';
import { hasTime, toDate, toDateTime } from './timestamp.ts';

/** What HL7 v2 and v3 say of a patient in the same words, as patches of the Patient resource. */

export const identifierTypes = v2Table('0203');
export const ssnSystem = 'http://hl7.org/fhir/sid/us-ssn';

const core = 'http://hl7.org/fhir/StructureDefinition/';
/** Extensions of Patient by what they hold. */
export const patientExtensionUrls = {
	mothersMaidenName: `${core}patient-mothersMaidenName`,
	religion: `${core}patient-religion`,
	birthPlace: `${core}patient-birthPlace`,
	citizenship: `${core}patient-citizenship`,
	nationality: `${core}patient-nationality`,
} as const;

/**
 * Identifiers of the patient's own list as one part of Patient.identifier. The type or system of some would make them
 * another field's; the element id keeps them here, so that a list without them removes them.
 */
export function identifierList(list: readonly Identifier[]): JsonObject[] {
	return list.map((item, index) => (looksForeign(item) ? { id: `PID-3.${index + 1}`, ...item } : item));
}

function looksForeign(item: Identifier): boolean {
	return item['system'] === ssnSystem || typeCode(item) === 'AN' || typeCode(item) === 'DL';
}

export function typeCode(item: Identifier): string | undefined {
	const type = item['type'] as { coding?: { code?: string }[] } | undefined;
	return type?.coding?.[0]?.code;
}

/** A social security number of the United States. */
export function socialSecurityNumber(value: string): Identifier {
	return { value, type: { coding: [{ system: identifierTypes, code: 'SS' }] }, system: ssnSystem };
}

/** A driver's licence; `system` is '' where the issuer is not known. */
export function driversLicence(value: string, system: string): Identifier {
	const type = { coding: [{ system: identifierTypes, code: 'DL' }] };
	return system === '' ? { value, type } : { value, type, system };
}

const midnight = /^\d{8}0+(?:\.0+)?(?:[+-]\d{4})?$/;
const birthTimeUrl = `${core}patient-birthTime`;

/** The date of birth and, where it has a time, that; false when the text is no date. */
export function setBirth(elements: Record<string, Json>, text: string, zone: string): boolean {
	const date = toDate(text);
	if (date === undefined) return false;
	elements['birthDate'] = date;
	// Midnight is how systems pad a date; it is kept as no time of birth.
	const valueDateTime = hasTime(text) && !midnight.test(text) ? toDateTime(text, zone) : undefined;
	elements['_birthDate'] = valueDateTime === undefined ? null : { extension: [{ url: birthTimeUrl, valueDateTime }] };
	return true;
}

/** An element that is `deceasedDateTime` or `deceasedBoolean`, say. `null` removes, undefined says nothing. */
export interface Choice {
	precise: { element: string; value: Json | undefined };
	bare: { element: string; value: boolean | null | undefined };
}

/** Two statements for one choice element: a precise value excludes the bare flag, and a bare `false` excludes a precise value. */
export function setPreciseOrBare(elements: Record<string, Json>, { precise, bare }: Choice): void {
	if (precise.value !== undefined) elements[precise.element] = precise.value;
	if (precise.value !== undefined && precise.value !== null) {
		elements[bare.element] = null;
		return;
	}
	if (bare.value === undefined) return;
	elements[bare.element] = bare.value;
	if (bare.value === false) elements[precise.element] = null;
}
