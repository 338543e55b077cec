import type { LimitDefinitions, LimitsOf } from '#core/limit-definition.ts';

/** Streams of live figures. */
export const adminLimitDefinitions = {
	liveWatchersMax: {
		variable: 'LIVE_WATCHERS_MAX',
		default: 64,
		min: 1,
		max: 10_000,
		ofNode: 'shared',
		answer: 'open streams of live figures on a node; a further one gets 503 with Retry-After',
	},
	liveWatchersOfUserMax: {
		variable: 'LIVE_WATCHERS_OF_USER_MAX',
		default: 8,
		min: 1,
		max: 10_000,
		ofNode: 'shared',
		answer: 'open streams of live figures of one user on a node; a further one gets 503 with Retry-After',
	},
} as const satisfies LimitDefinitions;

export type AdminLimits = LimitsOf<typeof adminLimitDefinitions>;
