import type { Json, JsonObject } from '#core/json.ts';
import type { Identifier } from '#record/resource-patch.ts';
import { v2Table } from './coding-system.ts';
import type { Zone } from './local-zone.ts';
import { hasTime, toDate, toDateTime } from './timestamp.ts';

/** Patches of the Patient resource for statements that HL7 v2 and v3 share. */

export const identifierTypes = v2Table('0203');
export const ssnSystem = 'http://hl7.org/fhir/sid/us-ssn';

const core = 'http://hl7.org/fhir/StructureDefinition/';
/** Extensions of Patient by their content. */
export const patientExtensionUrls = {
	mothersMaidenName: `${core}patient-mothersMaidenName`,
	religion: `${core}patient-religion`,
	birthPlace: `${core}patient-birthPlace`,
	citizenship: `${core}patient-citizenship`,
	nationality: `${core}patient-nationality`,
} as const;

/**
 * Makes the identifiers of the patient's own list one part of Patient.identifier. The type or system of some would assign them to another
 * field; the element id keeps them here, so that a list without them removes them.
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

/** Builds a driver's licence; `system` is '' when the issuer is not known. */
export function driversLicence(value: string, system: string): Identifier {
	const type = { coding: [{ system: identifierTypes, code: 'DL' }] };
	return system === '' ? { value, type } : { value, type, system };
}

const midnight = /^\d{8}0+(?:\.0+)?(?:[+-]\d{4})?$/;
const birthTimeUrl = `${core}patient-birthTime`;

/** Sets the date of birth and, if given, its time; returns false when the text is no date. */
export function setBirth(elements: Record<string, Json>, text: string, zone: Zone): boolean {
	const date = toDate(text);
	if (date === undefined) return false;
	elements['birthDate'] = date;
	// Systems pad a date with midnight, so midnight is not stored as a time of birth.
	const valueDateTime = hasTime(text) && !midnight.test(text) ? toDateTime(text, zone) : undefined;
	elements['_birthDate'] = valueDateTime === undefined ? null : { extension: [{ url: birthTimeUrl, valueDateTime }] };
	return true;
}

/** An element such as `deceasedDateTime` or `deceasedBoolean`. `null` removes it; undefined leaves it unchanged. */
export interface Choice {
	precise: { element: string; value: Json | undefined };
	bare: { element: string; value: boolean | null | undefined };
}

/** Sets one choice element from two statements: a precise value excludes the bare flag, and a bare `false` excludes a precise value. */
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
