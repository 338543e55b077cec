import { setFlagsFromString } from 'node:v8';
import { type Stoppable, systemTimers, type Timers } from './timers.ts';

/**
 * V8 makes optimised code of a function after 3,000 calls, and not within 500 calls of the last new kind of argument. That is meant for pages that
 * somebody looks at for a moment. Here a function is called once a message or once a batch, so a service would carry out its first thousands of
 * them by slow code, at each start.
 */
export const optimisationFlags = ['--invocation-count-for-turbofan=300', '--minimum-invocations-after-ic-update=50'];

/** The start lasts about so long. Its code runs once, and is not worth the time of the compiler. */
const startMs = 10_000;

/** Lets each thread of the process have optimised code sooner, once the start is over. V8 reads the flags whenever it considers a function. */
export function optimiseSooner(timers: Timers = systemTimers): Stoppable {
	return timers.after(
		startMs,
		() => {
			for (const flag of optimisationFlags) setFlagsFromString(flag);
		},
		false,
	);
}
