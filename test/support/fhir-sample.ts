import assert from 'node:assert/strict';
import type { FhirCall, FhirReply } from './fhir-client.ts';
import type { FhirBody } from './service.ts';

const loinc = 'http://loinc.org';
const ucum = 'http://unitsofmeasure.org';
const active = (system: string) => ({ coding: [{ system: `http://terminology.hl7.org/CodeSystem/${system}`, code: 'active' }] });
const quantity = (value: string, code: string, more = '') =>
	`"valueQuantity":{"value":${value},"system":"${ucum}","code":"${code}","unit":"${code}"${more}}`;
const observation = (id: string, patient: string, code: string, more: string) =>
	`{"resourceType":"Observation","id":"${id}","status":"final","subject":{"reference":"Patient/${patient}"},"code":{"coding":[{"system":"${loinc}","code":"${code}","display":"Hemoglobin A"}],"text":"Blood Hämoglobin"},${more}}`;

const content: Readonly<Record<string, object | string>> = {
	'Patient/anna': {
		resourceType: 'Patient',
		id: 'anna',
		identifier: [{ system: 'urn:mrn', value: '1', type: { text: 'Medical record', coding: [{ system: 'urn:types', code: 'MR' }] } }],
		name: [{ text: 'Anna Müller', family: 'Müller', given: ['Anna', 'Maria'] }],
		birthDate: '1970-05-17',
		gender: 'female',
		telecom: [
			{ system: 'phone', value: '555-1' },
			{ system: 'email', value: 'anna@example.org' },
		],
		address: [{ city: 'Ulm', country: 'DE', postalCode: '89073' }],
		communication: [{ language: { coding: [{ code: 'de' }] } }],
		generalPractitioner: [{ reference: 'Practitioner/p1', identifier: { system: 'urn:npi', value: '9' } }],
	},
	'Patient/ben': {
		resourceType: 'Patient',
		id: 'ben',
		identifier: [{ system: 'urn:mrn', value: '2' }],
		name: [{ family: 'Muller', given: ['Ben'] }],
		birthDate: '1980',
		gender: 'male',
		active: false,
		deceasedDateTime: '2020-01-01',
	},
	'Patient/cat': { resourceType: 'Patient', id: 'cat', name: [{ text: 'Cat' }], deceasedBoolean: false },
	'Observation/hb1': observation('hb1', 'anna', '718-7', `${quantity('12.50', 'g/dL')},"effectiveDateTime":"2024-01-01"`),
	'Observation/hb2': observation('hb2', 'anna', '718-7', `${quantity('9', 'g/dL')},"effectiveDateTime":"2024-02-01"`),
	'Observation/hb3': observation('hb3', 'ben', '718-7', quantity('5', 'g/dL', ',"comparator":"<"')),
	'Observation/na': observation(
		'na',
		'ben',
		'2951-2',
		`${quantity('140', 'mmol/L')},"category":[{"coding":[{"code":"laboratory"}]}],"hasMember":[{"reference":"Observation/hb3"}]`,
	),
	'Condition/c1': {
		resourceType: 'Condition',
		id: 'c1',
		clinicalStatus: active('condition-clinical'),
		code: { coding: [{ system: 'urn:icd', code: 'I10' }] },
		subject: { reference: 'Patient/anna' },
		recordedDate: '2024-03-01',
	},
	'AllergyIntolerance/a1': {
		resourceType: 'AllergyIntolerance',
		id: 'a1',
		clinicalStatus: active('allergyintolerance-clinical'),
		category: ['food'],
		code: { text: 'Peanut' },
		patient: { reference: 'Patient/anna' },
		reaction: [{ substance: { coding: [{ code: 'nut' }] }, manifestation: [{ text: 'Hives' }] }],
	},
	'Procedure/p1': {
		resourceType: 'Procedure',
		id: 'p1',
		status: 'completed',
		code: { coding: [{ code: 'CT' }] },
		subject: { reference: 'Patient/ben' },
	},
	'DocumentReference/d1': {
		resourceType: 'DocumentReference',
		id: 'd1',
		status: 'current',
		type: { coding: [{ system: loinc, code: '11502-2' }] },
		subject: { reference: 'Patient/anna' },
		content: [{ attachment: { contentType: 'text/plain', data: 'aGk=' } }],
	},
};

/** Puts a few resources of every type, under ids that tests know, into the site. */
export async function writeSample(call: FhirCall): Promise<void> {
	for (const [path, body] of Object.entries(content)) {
		const reply = await call('PUT', `/${path}`, body);
		assert.equal(reply.status, 201, reply.text);
	}
}

/** Ids of a searchset's entries of a mode. */
export const idsOf = ({ body }: FhirReply, mode = 'match'): string[] =>
	(body.entry ?? []).filter((entry: FhirBody) => entry.search.mode === mode).map((entry: FhirBody) => entry.resource.id);
export const linkOf = ({ body }: FhirReply, relation: string): string | undefined =>
	body.link.find((link: FhirBody) => link.relation === relation)?.url;

/** What a link of a Bundle leads to. */
export const follow = (call: FhirCall, url: string): Promise<FhirReply> => call('GET', url.slice(url.indexOf('/fhir/') + 5));

/** Ids of the page and of all that follow it. */
export async function pages(call: FhirCall, first: FhirReply): Promise<string[][]> {
	const found = [idsOf(first)];
	for (let url = linkOf(first, 'next'); url !== undefined; ) {
		const reply = await follow(call, url);
		assert.equal(reply.status, 200, reply.text);
		found.push(idsOf(reply));
		url = linkOf(reply, 'next');
	}
	return found;
}
