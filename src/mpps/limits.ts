import type { LimitDefinitions, LimitsOf } from '#core/limit-definition.ts';

const MiB = 1024 * 1024;

/** What is kept of a procedure step. */
export const mppsLimitDefinitions = {
	mppsBytesMax: {
		variable: 'MPPS_BYTES_MAX',
		default: 2 * MiB,
		min: 1024,
		max: 64 * MiB,
		answer: 'of a report about a procedure step, and of the attributes that all of one step come to; 413, DIMSE 0x0213',
	},
} as const satisfies LimitDefinitions;

export type MppsLimits = LimitsOf<typeof mppsLimitDefinitions>;
