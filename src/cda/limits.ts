import type { LimitDefinitions, LimitsOf } from '#core/limit-definition.ts';

/** Limits of a clinical document. */
export const documentLimitDefinitions = {
	documentPatientsMax: {
		variable: 'DOCUMENT_PATIENTS_MAX',
		default: 10,
		min: 1,
		max: 1000,
		answer: 'patients of a clinical document, each of whom gets a DocumentReference; 422',
	},
} as const satisfies LimitDefinitions;

export type DocumentLimits = LimitsOf<typeof documentLimitDefinitions>;
