import type { LimitDefinitions, LimitsOf } from '#core/limit-definition.ts';

const MiB = 1024 * 1024;

/** Limits of a procedure step. */
export const mppsLimitDefinitions = {
	mppsBytesMax: {
		variable: 'MPPS_BYTES_MAX',
		default: 2 * MiB,
		min: 1024,
		max: 64 * MiB,
		answer: 'bytes of a procedure step report, and of all attributes of one procedure step; 413, DIMSE 0x0213',
	},
} as const satisfies LimitDefinitions;

export type MppsLimits = LimitsOf<typeof mppsLimitDefinitions>;
