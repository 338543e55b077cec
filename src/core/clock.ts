/** Time as the rooms see it; tests pass their own. */
export interface Clock {
	nowMs(): number;
}

export const systemClock: Clock = { nowMs: () => Date.now() };
