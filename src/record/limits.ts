import type { LimitDefinitions, LimitsOf } from '#core/limit-definition.ts';

/** How long a delivery waits for its answer. */
export const deliveryLimitDefinitions = {
	unavailableMsMax: {
		variable: 'UNAVAILABLE_MS_MAX',
		default: 30_000,
		min: 100,
		max: 600_000,
		answer: 'time during which the service cannot store; MLLP closes the connection without an answer, HTTP answers 503',
	},
} as const satisfies LimitDefinitions;

export type DeliveryLimits = LimitsOf<typeof deliveryLimitDefinitions>;
