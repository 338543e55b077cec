import type { CodeableConcept, Coding } from '#fhir/datatypes.ts';
import { v2Table } from '#fhir/mapping/coding-system.ts';
import { entryOf } from '#fhir/mapping/table.ts';
import type { Segment } from '../message.ts';
import { codeableConcept } from './datatypes/cwe.ts';

const v3MaritalStatus = 'http://terminology.hl7.org/CodeSystem/v3-MaritalStatus';
const maritalTable = v2Table('0002');

/** Table 0002 → the codes that FHIR's marital-status value set takes from v3 (v2-to-FHIR concept map); others stay as sent. */
const maritalCodes: Readonly<Record<string, Coding>> = {
	B: { system: v3MaritalStatus, code: 'U', display: 'unmarried' },
	C: { system: v3MaritalStatus, code: 'C', display: 'Common Law' },
	D: { system: v3MaritalStatus, code: 'D', display: 'Divorced' },
	E: { system: v3MaritalStatus, code: 'L', display: 'Legally Separated' },
	I: { system: v3MaritalStatus, code: 'I', display: 'Interlocutory' },
	M: { system: v3MaritalStatus, code: 'M', display: 'Married' },
	N: { system: v3MaritalStatus, code: 'A', display: 'Annulled' },
	P: { system: v3MaritalStatus, code: 'T', display: 'Domestic partner' },
	S: { system: v3MaritalStatus, code: 'S', display: 'Never Married' },
	W: { system: v3MaritalStatus, code: 'W', display: 'Widowed' },
	U: { system: 'http://terminology.hl7.org/CodeSystem/v3-NullFlavor', code: 'UNK', display: 'unknown' },
};

/** PID-16. */
export function maritalStatus(pid: Segment): CodeableConcept | undefined {
	const concept = codeableConcept(pid, 16, 0, maritalTable);
	const first = concept?.coding?.[0];
	if (concept === undefined || first?.system !== maritalTable || first.code === undefined) return concept;
	const mapped = entryOf(maritalCodes, first.code);
	return mapped === undefined ? concept : { ...concept, coding: [mapped, ...(concept.coding ?? [])] };
}

/** BCP 47 as far as senders write it: `en`, `en-US`. */
const languageTag = /^[a-z]{2,3}(?:-[A-Z]{2})?$/;

/** PID-15. */
export function languages(pid: Segment): { language: CodeableConcept }[] | undefined {
	const tag = languageTag.test(pid.text(15)) ? 'urn:ietf:bcp:47' : '';
	const language = codeableConcept(pid, 15, 0, tag);
	return language === undefined ? undefined : [{ language }];
}
