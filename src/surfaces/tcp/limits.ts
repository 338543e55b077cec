import type { LimitDefinitions } from '#core/limit-definition.ts';

/** The end of a node, for every surface. */
export const drainLimitDefinitions = {
	drainMsMax: {
		variable: 'DRAIN_MS_MAX',
		default: 30_000,
		min: 0,
		max: 600_000,
		answer: 'what is still in flight when draining ends is not answered; senders resend',
	},
} as const satisfies LimitDefinitions;
