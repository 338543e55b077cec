import type { GeneratedParameter } from './generated-type.ts';

/**
 * Search parameters that US Core 6.1.0 asks of a server and R4 does not define. They look at the resource, so a type whose rows were stored
 * before has them too.
 */
export const usCoreParameters: Readonly<Record<string, Readonly<Record<string, GeneratedParameter>>>> = {
	CareTeam: {
		role: {
			type: 'token',
			documentation: 'What a member does in the team',
			elements: [{ path: 'participant.role', datatype: 'CodeableConcept' }],
		},
	},
	Condition: {
		'asserted-date': {
			type: 'date',
			documentation: 'When the condition was first asserted',
			elements: [
				{
					path: 'extension.valueDateTime',
					datatype: 'dateTime',
					where: { at: 'extension', member: 'url', value: 'http://hl7.org/fhir/StructureDefinition/condition-assertedDate' },
				},
			],
		},
	},
	Encounter: {
		'discharge-disposition': {
			type: 'token',
			documentation: 'Where the patient went from the visit',
			elements: [{ path: 'hospitalization.dischargeDisposition', datatype: 'CodeableConcept' }],
		},
	},
	Goal: {
		description: {
			type: 'token',
			documentation: 'What is to be reached',
			elements: [{ path: 'description', datatype: 'CodeableConcept' }],
		},
	},
	Patient: {
		ethnicity: {
			type: 'token',
			documentation: 'An ethnicity of the patient',
			elements: [
				{
					path: 'extension.extension.valueCoding',
					datatype: 'Coding',
					where: { at: 'extension', member: 'url', value: 'http://hl7.org/fhir/us/core/StructureDefinition/us-core-ethnicity' },
				},
			],
		},
		'gender-identity': {
			type: 'token',
			documentation: 'The gender that the patient identifies with',
			elements: [
				{
					path: 'extension.valueCodeableConcept',
					datatype: 'CodeableConcept',
					where: { at: 'extension', member: 'url', value: 'http://hl7.org/fhir/us/core/StructureDefinition/us-core-genderIdentity' },
				},
			],
		},
		race: {
			type: 'token',
			documentation: 'A race of the patient',
			elements: [
				{
					path: 'extension.extension.valueCoding',
					datatype: 'Coding',
					where: { at: 'extension', member: 'url', value: 'http://hl7.org/fhir/us/core/StructureDefinition/us-core-race' },
				},
			],
		},
	},
};
