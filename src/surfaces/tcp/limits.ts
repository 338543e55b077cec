import type { LimitDefinitions } from '#core/limit-definition.ts';

/** The end of a node, for every surface. */
export const drainLimitDefinitions = {
	drainMsMax: {
		variable: 'DRAIN_MS_MAX',
		default: 30_000,
		min: 0,
		max: 600_000,
		answer: 'time for draining; requests still in progress then get no answer, and senders resend',
	},
} as const satisfies LimitDefinitions;
