import { isOid, localUrn } from './authority.ts';
import { entryOf } from './table.ts';

/** Table 0396, coding systems that have a FHIR URI; names as senders write them. */
const systems: Readonly<Record<string, string>> = {
	LN: 'http://loinc.org',
	LOINC: 'http://loinc.org',
	SCT: 'http://snomed.info/sct',
	SNM: 'http://snomed.info/sct',
	SNOMED: 'http://snomed.info/sct',
	'SNOMED-CT': 'http://snomed.info/sct',
	SNOMEDCT: 'http://snomed.info/sct',
	UCUM: 'http://unitsofmeasure.org',
	I9: 'http://hl7.org/fhir/sid/icd-9-cm',
	I9C: 'http://hl7.org/fhir/sid/icd-9-cm',
	I9CP: 'http://hl7.org/fhir/sid/icd-9-cm',
	ICD9: 'http://hl7.org/fhir/sid/icd-9-cm',
	'ICD-9': 'http://hl7.org/fhir/sid/icd-9-cm',
	'ICD-9-CM': 'http://hl7.org/fhir/sid/icd-9-cm',
	I10: 'http://hl7.org/fhir/sid/icd-10',
	ICD10: 'http://hl7.org/fhir/sid/icd-10',
	'ICD-10': 'http://hl7.org/fhir/sid/icd-10',
	I10C: 'http://hl7.org/fhir/sid/icd-10-cm',
	'ICD-10-CM': 'http://hl7.org/fhir/sid/icd-10-cm',
	I10P: 'http://www.cms.gov/Medicare/Coding/ICD10',
	'ICD-10-PCS': 'http://www.cms.gov/Medicare/Coding/ICD10',
	CVX: 'http://hl7.org/fhir/sid/cvx',
	MVX: 'http://hl7.org/fhir/sid/mvx',
	NDC: 'http://hl7.org/fhir/sid/ndc',
	C4: 'http://www.ama-assn.org/go/cpt',
	CPT: 'http://www.ama-assn.org/go/cpt',
	RXNORM: 'http://www.nlm.nih.gov/research/umls/rxnorm',
	MDC: 'urn:iso:std:iso:11073:10101',
	DCM: 'http://dicom.nema.org/resources/ontology/DCM',
	CDCREC: 'urn:oid:2.16.840.1.113883.6.238',
	ISO3166_1: 'urn:iso:std:iso:3166',
	ISO639: 'urn:iso:std:iso:639',
	'ISO639-2': 'urn:iso:std:iso:639:-2',
};

const hl7 = '2.16.840.1.113883';
const terminology = 'http://terminology.hl7.org/CodeSystem/';
/** Coding systems by OID, where FHIR has a URI for them (R4 §4.3.0, terminology.hl7.org). */
const byOid: Readonly<Record<string, string>> = {
	[`${hl7}.6.1`]: 'http://loinc.org',
	[`${hl7}.6.3`]: 'http://hl7.org/fhir/sid/icd-10',
	[`${hl7}.6.4`]: 'http://www.cms.gov/Medicare/Coding/ICD10',
	[`${hl7}.6.8`]: 'http://unitsofmeasure.org',
	[`${hl7}.6.12`]: 'http://www.ama-assn.org/go/cpt',
	[`${hl7}.6.69`]: 'http://hl7.org/fhir/sid/ndc',
	[`${hl7}.6.88`]: 'http://www.nlm.nih.gov/research/umls/rxnorm',
	[`${hl7}.6.90`]: 'http://hl7.org/fhir/sid/icd-10-cm',
	[`${hl7}.6.96`]: 'http://snomed.info/sct',
	[`${hl7}.6.103`]: 'http://hl7.org/fhir/sid/icd-9-cm',
	[`${hl7}.6.121`]: 'urn:ietf:bcp:47',
	[`${hl7}.12.292`]: 'http://hl7.org/fhir/sid/cvx',
	[`${hl7}.5.1`]: `${terminology}v3-AdministrativeGender`,
	[`${hl7}.5.2`]: `${terminology}v3-MaritalStatus`,
	[`${hl7}.5.4`]: `${terminology}v3-ActCode`,
	[`${hl7}.5.25`]: `${terminology}v3-Confidentiality`,
	[`${hl7}.5.50`]: `${terminology}v3-Ethnicity`,
	[`${hl7}.5.83`]: `${terminology}v3-ObservationInterpretation`,
	[`${hl7}.5.104`]: `${terminology}v3-Race`,
	[`${hl7}.5.111`]: `${terminology}v3-RoleCode`,
	[`${hl7}.5.1008`]: `${terminology}v3-NullFlavor`,
	[`${hl7}.5.1076`]: `${terminology}v3-ReligiousAffiliation`,
	'1.2.840.10008.2.16.4': 'http://dicom.nema.org/resources/ontology/DCM',
	'1.0.3166.1': 'urn:iso:std:iso:3166',
	'1.0.3166.1.2.2': 'urn:iso:std:iso:3166',
};

/** Converts an OID of a coding system to a FHIR system. HL7 v2 tables have OIDs of their own. */
function ofOid(oid: string): string {
	const table = /^2\.16\.840\.1\.113883\.12\.(\d{1,4})$/.exec(oid)?.[1];
	return entryOf(byOid, oid) ?? (table === undefined ? `urn:oid:${oid}` : v2Table(table.padStart(4, '0')));
}

const known = new Map<string, string>();
/** The size of a cache. What is not in it is computed anew. */
const knownMax = 4096;

/** Converts CWE-3 or CE-3 to a FHIR system; '' for none and for `L`, which means the sender's own codes but does not name the sender. */
export function codingSystem(name: string): string {
	if (name === '' || name === 'L') return '';
	const held = known.get(name);
	if (held !== undefined) return held;
	const system = find(name.trim());
	if (known.size < knownMax) known.set(name, system);
	return system;
}

function find(name: string): string {
	const upper = name.toUpperCase();
	const listed = entryOf(systems, upper);
	if (listed !== undefined) return listed;
	if (/^HL7\d{4}$/.test(upper)) return v2Table(upper.slice(3));
	if (isOid(name)) return ofOid(name);
	if (/^(?:https?:\/\/|urn:)\S+$/.test(name)) return name;
	return name === '' ? '' : localUrn(name);
}

/** The FHIR code system of an HL7 v2 table; `number` has four digits. */
export function v2Table(number: string): string {
	return `http://terminology.hl7.org/CodeSystem/v2-${number}`;
}
