import type { LimitDefinitions, LimitsOf } from '#core/limit-definition.ts';

/** Limits of the contents of a message. */
export const hl7v2LimitDefinitions = {
	segmentsMax: { variable: 'HL7_SEGMENTS_MAX', default: 20_000, min: 10, max: 1_000_000, answer: 'AE 104' },
	observationsMax: {
		variable: 'HL7_OBSERVATIONS_MAX',
		default: 10_000,
		min: 1,
		max: 1_000_000,
		answer: 'OBX segments of one message; AE 104',
	},
	continuationsMax: {
		variable: 'HL7_CONTINUATIONS_MAX',
		default: 1000,
		min: 1,
		max: 100_000,
		answer: 'ADD segments and continuation messages of one message; AE 104',
	},
} as const satisfies LimitDefinitions;

export type Hl7v2Limits = LimitsOf<typeof hl7v2LimitDefinitions>;
