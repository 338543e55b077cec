/** What a message may hold; rows of the table in limits.ts. */
export const hl7v2LimitDefinitions = {
	repetitionsMax: {
		variable: 'REPETITIONS_MAX',
		default: 10_000,
		min: 100,
		max: 1_000_000,
		answer: 'repetitions of an HL7 v2 field, AE 104; values of a list in a FHIR resource, 422',
	},
	segmentsMax: { variable: 'HL7_SEGMENTS_MAX', default: 20_000, min: 10, max: 1_000_000, answer: 'AE 104' },
	observationsMax: { variable: 'HL7_OBSERVATIONS_MAX', default: 10_000, min: 1, max: 1_000_000, answer: 'OBX of one message; AE 104' },
} as const;
