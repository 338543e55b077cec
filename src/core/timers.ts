import { type Stoppable, strokeMs, strokes } from './strokes.ts';

export type { Stoppable };

/** Monotonic time and waiting, for code that decides when to act; tests pass their own. */
export interface Timers {
	/** Returns milliseconds since some moment; it never goes back. */
	elapsedMs(): number;
	/** Runs it at the end of the I/O phase, when all input that has arrived by then is read. */
	soon(run: () => void): void;
	/** Runs it later, once. Without `holdsProcess` the process may end first. */
	after(ms: number, run: () => void, holdsProcess: boolean): Stoppable;
	/** Runs it later, once; the process may end first. A multiple of 500 ms may become 0.1 s more or 0.4 s less (`core/strokes`). */
	about(ms: number, run: () => void): Stoppable;
	/** Runs it repeatedly; the process may end at any time. A multiple of 500 ms is kept to as `about` keeps to it, each time anew. */
	every(ms: number, run: () => void): Stoppable;
}

/** Returns milliseconds of the clock that all threads of a process share; performance.now() counts from the start of each. */
export function steadyMs(): number {
	const [seconds, nanoseconds] = process.hrtime();
	return seconds * 1e3 + nanoseconds / 1e6;
}

/** Tells whether a time is half a second or a few of them. */
const isOfStrokes = (ms: number) => ms > 0 && ms % strokeMs === 0;

export const systemTimers: Timers = {
	elapsedMs: () => performance.now(),
	soon: (run) => {
		setImmediate(run);
	},
	after: (ms, run, holdsProcess) => {
		const timer = setTimeout(run, ms);
		if (!holdsProcess) timer.unref();
		return { stop: () => clearTimeout(timer) };
	},
	about: (ms, run) => (isOfStrokes(ms) ? strokes.once(ms, run) : systemTimers.after(ms, run, false)),
	every: (ms, run) => {
		if (isOfStrokes(ms)) return strokes.every(ms, run);
		const timer = setInterval(run, ms).unref();
		return { stop: () => clearInterval(timer) };
	},
};
