const codes = 'http://terminology.hl7.org/CodeSystem/';
const extensions = 'http://hl7.org/fhir/StructureDefinition/';
const coded = (system: string) => `{"coding":[{"system":"${codes}${system}","code":"`;

/**
 * JSON that resources of messages have in common. A stored text names a piece by its place in this list, so further ones are only appended, with a
 * migration that makes `tributary_whole_text` anew. None holds `"Patient/`: a merge replaces references in texts as they are stored. None is short:
 * each name takes time when a resource is read.
 */
export const commonTexts: readonly string[] = [
	'{',
	`"},"display":"`,
	`"type":${coded('v2-0203')}`,
	`"identifier":{"value":"`,
	`"subject":{"reference":`,
	`"system":"http://unitsofmeasure.org","code":"`,
	`"}]},"system":"`,
	coded('v2-').slice(0, -'","code":"'.length),
	`{"status":"final",`,
	`"extension":[{"url":"${extensions}observation-v2-subid","extension":[{"url":"original-sub-identifier","valueString":"`,
	`"basedOn":[{"type":"ServiceRequest","identifier":{"type":${coded('v2-0203')}PLAC"}]},"system":"`,
	`"basedOn":[{"type":"ServiceRequest","identifier":{"type":${coded('v2-0203')}FILL"}]},"system":"`,
	`"},{"type":"ServiceRequest","identifier":{"type":${coded('v2-0203')}FILL"}]},"system":"`,
	`"category":[${coded('observation-category')}laboratory","display":"Laboratory"}`,
	`{"system":"${codes}v2-`,
	`{"system":"${codes}`,
	`"code":{"coding":[{"system":"http://loinc.org","code":"`,
	`{"system":"http://loinc.org","code":"`,
	`{"system":"http://snomed.info/sct","code":"`,
	`"effectiveDateTime":"`,
	`"performer":[{"type":"Practitioner","identifier":{"value":"`,
	`"valueQuantity":{"value":`,
	`"interpretation":[${coded('v3-ObservationInterpretation')}N","display":"Normal"}]}]`,
	`"interpretation":[${coded('v3-ObservationInterpretation')}H","display":"High"}]}]`,
	`"interpretation":[${coded('v3-ObservationInterpretation')}L","display":"Low"}]}]`,
	`"interpretation":[${coded('v3-ObservationInterpretation')}`,
	`"device":{"type":"Device","identifier":{"value":"`,
	`"referenceRange":[{"low":{"value":`,
	`"},"high":{"value":`,
	`"identifier":[{"type":${coded('v2-0203')}PLAC"}]},"system":"`,
	`"identifier":[{"type":${coded('v2-0203')}FILL"}]},"system":"`,
	`"},{"type":${coded('v2-0203')}FILL"}]},"system":"`,
	`"identifier":[{"value":"`,
	`"result":[{"reference":"Observation/`,
	`"},{"reference":"Observation/`,
	`"encounter":{"reference":"Encounter/`,
	`"individual":{"type":"Practitioner","identifier":{`,
	`{"type":"Practitioner","identifier":{`,
	`"class":{"system":"${codes}v3-ActCode","code":"`,
	`"participant":[{"type":[${coded('v3-ParticipationType')}`,
	`{"type":[${coded('v3-ParticipationType')}`,
	`ATND","display":"attender"}]}],"individual":{"type":"Practitioner","identifier":{`,
	`REF","display":"referrer"}]}],"individual":{"type":"Practitioner","identifier":{`,
	`ADM","display":"admitter"}]}],"individual":{"type":"Practitioner","identifier":{`,
	`"hospitalization":{"admitSource":${coded('v2-0023')}`,
	`"location":[{"location":{"type":"Location","display":"`,
	`"period":{"start":"`,
	`{"active":true,"name":[{"use":"official","text":"`,
	`"name":[{"use":"official","text":"`,
	`"birthDate":"`,
	`"address":[{"use":"home","text":"`,
	`"communication":[{"language":{"coding":[{"system":"urn:iso:std:iso:639","code":"`,
	`"maritalStatus":${coded('v3-MaritalStatus')}`,
	`{"system":"${codes}v2-0002","code":"`,
	`"system":"http://hl7.org/fhir/sid/us-ssn"`,
	`{"system":"phone","value":"`,
	`{"system":"email","value":"`,
	`{"url":"${extensions}patient-mothersMaidenName","valueString":"`,
	`{"url":"http://hl7.org/fhir/us/core/StructureDefinition/us-core-race","extension":[{"url":"ombCategory","valueCoding":{"system":"urn:oid:2.16.840.1.113883.6.238","code":"`,
	`{"url":"${extensions}patient-religion","valueCodeableConcept":${coded('v2-0006')}`,
	`{"url":"${extensions}patient-birthPlace","valueAddress":{"text":"`,
	`{"url":"${extensions}patient-citizenship","extension":[{"url":"code","valueCodeableConcept":{"coding":[{"system":"`,
	`{"url":"${extensions}`,
	`"clinicalStatus":${coded('condition-clinical')}active"}]}`,
	`"clinicalStatus":${coded('allergyintolerance-clinical')}active"}]}`,
	`"category":[${coded('condition-category')}encounter-diagnosis","display":"Encounter Diagnosis"}]}]`,
	`"verificationStatus":${coded('condition-ver-status')}`,
	`"code":{"coding":[{"system":"http://hl7.org/fhir/sid/icd-10","code":"`,
	`"code":{"coding":[{"system":"http://hl7.org/fhir/sid/icd-10-cm","code":"`,
	`"code":{"coding":[{"system":"http://www.nlm.nih.gov/research/umls/rxnorm","code":"`,
	`{"extension":[{"url":"${extensions}alternate-codes","valueCodeableConcept":${coded('v2-').slice(0, -'","code":"'.length)}`,
	`"reaction":[{"manifestation":[{"text":"`,
	'urn:oid:2.16.840.1.113883.',
];

/** The name of the piece at a place of the list, as `format` of PostgreSQL replaces it. */
const nameAt = (index: number) => `%${index + 1}$s`;

const names = new Map([...commonTexts.map((text, index): [string, string] => [text, nameAt(index)]), ['%', '%%']]);
/** Longer pieces come first, since some begin like others. The first piece only marks a compact text. */
const pieces = new RegExp(
	commonTexts
		.slice(1)
		.sort((left, right) => right.length - left.length)
		.concat('%')
		.map((text) => text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&'))
		.join('|'),
	'g',
);
const nameOf = (piece: string): string => names.get(piece) ?? piece;

/**
 * Returns the text of a resource with names for what `commonTexts` lists, or the text itself where that saves little. A whole text begins with `{`,
 * a compact one with `%`.
 */
export function compactText(text: string): string {
	if (!text.startsWith('{')) return text;
	const named = text.replace(pieces, nameOf);
	if (named.length > text.length * 0.8) return text;
	return named.startsWith('%') ? named : `${nameAt(0)}${named.slice(1)}`;
}

/** Returns the text of which `compactText` made this one, as `tributary_whole_text` does in the database. */
export function wholeText(text: string): string {
	if (!text.startsWith('%')) return text;
	return text.replace(/%(?:(\d+)\$s|%)/g, (_name, number: string | undefined) =>
		number === undefined ? '%' : (commonTexts[Number(number) - 1] ?? ''),
	);
}
