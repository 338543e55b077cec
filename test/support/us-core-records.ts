import type { FhirBody } from './service.ts';

/**
 * Invented resources for the searches of US Core. Of each type one is looked for; `others` are the same but for what one parameter finds. `_id`
 * and combinations need none of their own.
 */
export interface UsCoreRecords {
	wanted: FhirBody;
	others: Readonly<Record<string, FhirBody>>;
}

const hl7 = 'http://terminology.hl7.org/CodeSystem/';
const loinc = 'http://loinc.org';
const sct = 'http://snomed.info/sct';

const concept = (system: string, code: string) => ({ coding: [{ system, code }], text: `Concept ${code}` });
const ref = (reference: string) => ({ reference });
const alba = ref('Patient/alba');
const bo = ref('Patient/bo');
const doctor = ref('Practitioner/wanted');
const period = (start: string, end: string) => ({ start, end });
const march = period('2024-03-05T08:00:00Z', '2024-03-05T17:00:00Z');
const june = period('2024-06-01T08:00:00Z', '2024-06-03T17:00:00Z');
const [inMarch, inJune] = ['2024-03-05T10:30:00Z', '2024-06-01T10:30:00Z'];
const address = (city: string, state: string, postalCode: string, line = '1 Mill Lane') => ({
	line: [line],
	city,
	state,
	postalCode,
	country: 'US',
});
const asserted = (valueDateTime: string) => [{ url: 'http://hl7.org/fhir/StructureDefinition/condition-assertedDate', valueDateTime }];

const usCore = 'http://hl7.org/fhir/us/core/StructureDefinition/';
const parts = (name: string, code: string) => ({
	url: `${usCore}${name}`,
	extension: [
		{ url: 'ombCategory', valueCoding: { system: 'urn:oid:2.16.840.1.113883.6.238', code, display: `Category ${code}` } },
		{ url: 'text', valueString: `Category ${code}` },
	],
});

/** Whom and what the others refer to. */
export const usCoreContext: readonly FhirBody[] = [
	{ resourceType: 'Patient', id: 'alba', name: [{ family: 'Rivers', given: ['Alba'] }], gender: 'female' },
	{ resourceType: 'Patient', id: 'bo', name: [{ family: 'Stone', given: ['Bo'] }], gender: 'male' },
	{ resourceType: 'Medication', id: 'drops', code: concept(sct, '387207008') },
	{ resourceType: 'Endpoint', id: 'door', status: 'active', ...endpointParts() },
	{ resourceType: 'Questionnaire', id: 'asked', url: 'http://example.org/Questionnaire/asked', status: 'active' },
	{ resourceType: 'Location', id: 'ward', name: 'Ward Seven', address: address('Elsewhere', 'NV', '89001', '7 High Road') },
	{ resourceType: 'Location', id: 'yard', name: 'The Yard', address: address('Nowhere', 'NV', '89002', '9 High Road') },
];

function endpointParts(): FhirBody {
	return {
		connectionType: { system: `${hl7}endpoint-connection-type`, code: 'hl7-fhir-rest' },
		payloadType: [concept(`${hl7}endpoint-payload-type`, 'any')],
		address: 'https://example.org/fhir',
	};
}

const event = { status: 'completed', subject: alba, code: concept(sct, '80146002'), performedDateTime: inMarch };

export const usCoreRecords: Readonly<Record<string, UsCoreRecords>> = {
	Patient: {
		wanted: {
			extension: [
				parts('us-core-race', '2106-3'),
				parts('us-core-ethnicity', '2186-5'),
				{ url: `${usCore}us-core-genderIdentity`, valueCodeableConcept: concept(sct, '446141000124107') },
			],
			identifier: [{ system: 'urn:oid:2.999.1', value: 'UC-1' }],
			name: [{ family: 'Lindqvist', given: ['Mara', 'Jo'] }],
			gender: 'female',
			birthDate: '1961-03-05',
			deceasedDateTime: inMarch,
		},
		others: {
			identifier: { identifier: [{ system: 'urn:oid:2.999.2', value: 'UC-2' }] },
			name: { name: [{ family: 'Ober', given: ['Tim'] }] },
			family: { name: [{ family: 'Marasson', given: ['Lin'] }] },
			gender: { gender: 'male' },
			birthdate: { birthDate: '1961-03-06' },
			'death-date': { deceasedDateTime: inJune },
			race: { extension: [parts('us-core-race', '2186-5')] },
		},
	},
	Practitioner: {
		wanted: {
			identifier: [{ system: 'http://hl7.org/fhir/sid/us-npi', value: '9941339108' }],
			name: [{ family: 'Bones', given: ['Ron'] }],
		},
		others: {
			identifier: { identifier: [{ system: 'http://hl7.org/fhir/sid/us-npi', value: '9941339109' }] },
			name: { name: [{ family: 'Careful', given: ['Adam'] }] },
		},
	},
	Organization: {
		wanted: { name: 'Acme Clinic', active: true, address: [address('Plymouth', 'MA', '02360')] },
		others: { name: { name: 'Burr Clinic' }, address: { address: [address('Salem', 'OR', '97301', '3 Oak Street')] } },
	},
	Location: {
		wanted: { name: 'South Wing', status: 'active', address: address('Plymouth', 'MA', '02360') },
		others: {
			name: { name: 'North Wing' },
			address: { address: address('Salem', 'OR', '97301', '3 Oak Street') },
			'address-city': { address: address('Quincy', 'MA', '02360') },
			'address-state': { address: address('Plymouth', 'NH', '02360') },
			'address-postalcode': { address: address('Plymouth', 'MA', '02361') },
		},
	},
	PractitionerRole: {
		wanted: {
			practitioner: doctor,
			specialty: [concept('http://nucc.org/provider-taxonomy', '208D00000X')],
			endpoint: [ref('Endpoint/door')],
		},
		others: {
			practitioner: { practitioner: ref('Practitioner/other-name') },
			specialty: { specialty: [concept('http://nucc.org/provider-taxonomy', '207R00000X')] },
		},
	},
	RelatedPerson: {
		wanted: { patient: alba, name: [{ family: 'Rivers', given: ['Saul'] }] },
		others: { patient: { patient: bo }, name: { name: [{ family: 'Brook', given: ['Ida'] }] } },
	},
	Encounter: {
		wanted: {
			identifier: [{ system: 'urn:oid:2.999.3', value: 'V-1' }],
			status: 'finished',
			class: { system: `${hl7}v3-ActCode`, code: 'IMP' },
			type: [concept(sct, '183452005')],
			subject: alba,
			period: march,
			location: [{ location: ref('Location/ward') }],
			hospitalization: { dischargeDisposition: concept(`${hl7}discharge-disposition`, 'home') },
		},
		others: {
			identifier: { identifier: [{ system: 'urn:oid:2.999.3', value: 'V-2' }] },
			status: { status: 'in-progress' },
			class: { class: { system: `${hl7}v3-ActCode`, code: 'AMB' } },
			type: { type: [concept(sct, '308335008')] },
			patient: { subject: bo },
			date: { period: june },
			location: { location: [{ location: ref('Location/yard') }] },
			'discharge-disposition': { hospitalization: { dischargeDisposition: concept(`${hl7}discharge-disposition`, 'rehab') } },
		},
	},
	AllergyIntolerance: {
		wanted: { clinicalStatus: concept(`${hl7}allergyintolerance-clinical`, 'active'), code: concept(sct, '387207008'), patient: alba },
		others: { patient: { patient: bo }, 'clinical-status': { clinicalStatus: concept(`${hl7}allergyintolerance-clinical`, 'resolved') } },
	},
	CarePlan: {
		wanted: {
			status: 'active',
			intent: 'plan',
			category: [concept('http://hl7.org/fhir/us/core/CodeSystem/careplan-category', 'assess-plan')],
			subject: alba,
			period: march,
		},
		others: {
			status: { status: 'revoked' },
			category: { category: [concept(sct, '734163000')] },
			patient: { subject: bo },
			date: { period: june },
		},
	},
	CareTeam: {
		wanted: {
			status: 'active',
			subject: alba,
			participant: [
				{ role: [concept(sct, '17561000')], member: doctor },
				{ member: ref('PractitionerRole/wanted') },
				{ member: alba },
				{ member: ref('RelatedPerson/wanted') },
			],
		},
		others: {
			status: { status: 'inactive' },
			patient: { subject: bo },
			role: { participant: [{ role: [concept(sct, '224535009')], member: doctor }] },
		},
	},
	Condition: {
		wanted: {
			extension: asserted(inMarch),
			clinicalStatus: concept(`${hl7}condition-clinical`, 'resolved'),
			category: [concept(`${hl7}condition-category`, 'problem-list-item')],
			code: concept(sct, '442311008'),
			subject: alba,
			encounter: ref('Encounter/wanted'),
			onsetDateTime: inMarch,
			abatementDateTime: inMarch,
			recordedDate: inMarch,
		},
		others: {
			'asserted-date': { extension: asserted(inJune) },
			'clinical-status': { clinicalStatus: concept(`${hl7}condition-clinical`, 'inactive') },
			category: { category: [concept(`${hl7}condition-category`, 'encounter-diagnosis')] },
			code: { code: concept(sct, '386661006') },
			patient: { subject: bo },
			encounter: { encounter: ref('Encounter/other-type') },
			'onset-date': { onsetDateTime: inJune },
			'abatement-date': { abatementDateTime: inJune },
			'recorded-date': { recordedDate: inJune },
		},
	},
	Coverage: {
		wanted: { status: 'active', beneficiary: alba, payor: [ref('Organization/wanted')] },
		others: { patient: { beneficiary: bo } },
	},
	Device: {
		wanted: { status: 'active', type: concept(sct, '468063009'), patient: alba },
		others: { status: { status: 'inactive' }, type: { type: concept(sct, '14106009') }, patient: { patient: bo } },
	},
	DiagnosticReport: {
		wanted: {
			status: 'final',
			category: [concept(`${hl7}v2-0074`, 'LAB')],
			code: concept(loinc, '24323-8'),
			subject: alba,
			effectiveDateTime: inMarch,
		},
		others: {
			status: { status: 'preliminary' },
			category: { category: [concept(loinc, 'LP29684-5')] },
			code: { code: concept(loinc, '58410-2') },
			patient: { subject: bo },
			date: { effectiveDateTime: inJune },
		},
	},
	DocumentReference: {
		wanted: {
			status: 'current',
			type: concept(loinc, '18842-5'),
			category: [concept('http://hl7.org/fhir/us/core/CodeSystem/us-core-documentreference-category', 'clinical-note')],
			subject: alba,
			date: inMarch,
			content: [{ attachment: { contentType: 'text/plain', data: 'bm90ZQ==' } }],
			context: { period: march },
		},
		others: {
			status: { status: 'superseded' },
			type: { type: concept(loinc, '34133-9') },
			category: { category: [concept(loinc, 'LP173421-1')] },
			patient: { subject: bo },
			date: { date: inJune },
			period: { context: { period: june } },
		},
	},
	Goal: {
		wanted: {
			lifecycleStatus: 'active',
			description: concept(sct, '281004'),
			subject: alba,
			target: [{ dueDate: '2024-03-05' }],
		},
		others: {
			'lifecycle-status': { lifecycleStatus: 'completed' },
			description: { description: concept(sct, '160573003') },
			patient: { subject: bo },
			'target-date': { target: [{ dueDate: '2024-06-01' }] },
		},
	},
	Immunization: {
		wanted: { status: 'completed', vaccineCode: concept('http://hl7.org/fhir/sid/cvx', '158'), patient: alba, occurrenceDateTime: inMarch },
		others: { status: { status: 'not-done' }, patient: { patient: bo }, date: { occurrenceDateTime: inJune } },
	},
	MedicationDispense: {
		wanted: { status: 'completed', type: concept(`${hl7}v3-ActCode`, 'FF'), medicationReference: ref('Medication/drops'), subject: alba },
		others: { status: { status: 'stopped' }, type: { type: concept(`${hl7}v3-ActCode`, 'RF') }, patient: { subject: bo } },
	},
	MedicationRequest: {
		wanted: {
			status: 'active',
			intent: 'order',
			medicationReference: ref('Medication/drops'),
			subject: alba,
			encounter: ref('Encounter/wanted'),
			authoredOn: inMarch,
		},
		others: {
			status: { status: 'stopped' },
			intent: { intent: 'plan' },
			patient: { subject: bo },
			encounter: { encounter: ref('Encounter/other-type') },
			authoredon: { authoredOn: inJune },
		},
	},
	Observation: {
		wanted: {
			status: 'final',
			category: [concept(`${hl7}observation-category`, 'laboratory')],
			code: concept(loinc, '2339-0'),
			subject: alba,
			effectiveDateTime: inMarch,
			valueQuantity: { value: 76, unit: 'mg/dL', system: 'http://unitsofmeasure.org', code: 'mg/dL' },
		},
		others: {
			status: { status: 'amended' },
			category: { category: [concept(`${hl7}observation-category`, 'vital-signs')] },
			code: { code: concept(loinc, '8867-4') },
			patient: { subject: bo },
			date: { effectiveDateTime: inJune },
		},
	},
	Procedure: {
		wanted: event,
		others: {
			status: { status: 'in-progress' },
			code: { code: concept(sct, '387713003') },
			patient: { subject: bo },
			date: { performedDateTime: inJune },
		},
	},
	QuestionnaireResponse: {
		wanted: { status: 'completed', questionnaire: 'http://example.org/Questionnaire/asked', subject: alba, authored: inMarch },
		others: {
			status: { status: 'amended' },
			questionnaire: { questionnaire: 'http://example.org/Questionnaire/other' },
			patient: { subject: bo },
			authored: { authored: inJune },
		},
	},
	ServiceRequest: {
		wanted: {
			status: 'active',
			intent: 'order',
			category: [concept(sct, '410606002')],
			code: concept(sct, '467771000124109'),
			subject: alba,
			authoredOn: inMarch,
		},
		others: {
			status: { status: 'completed' },
			category: { category: [concept(sct, '108252007')] },
			code: { code: concept(sct, '1155885007') },
			patient: { subject: bo },
			authored: { authoredOn: inJune },
		},
	},
	Specimen: {
		wanted: { type: concept(sct, '122555007'), subject: alba },
		others: { patient: { subject: bo } },
	},
};
