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

const known = new Map<string, string>();
const knownMax = 4096;

/** CWE-3 or CE-3 as a FHIR system; '' for none and for `L`, which names the sender's own codes without naming the sender. */
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
	if (isOid(name)) return `urn:oid:${name}`;
	if (/^(?:https?:\/\/|urn:)\S+$/.test(name)) return name;
	return name === '' ? '' : localUrn(name);
}

/** The FHIR code system of an HL7 v2 table; `number` has four digits. */
export function v2Table(number: string): string {
	return `http://terminology.hl7.org/CodeSystem/v2-${number}`;
}
