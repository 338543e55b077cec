/** Monotonic time and waiting, for code that decides when to act; tests pass their own. */
export interface Timers {
	/** Returns milliseconds since some moment; it never goes back. */
	elapsedMs(): number;
	/** Runs it at the end of the I/O phase, when all input that has arrived by then is read. */
	soon(run: () => void): void;
	/** Runs it later, once. Without `holdsProcess` the process may end first. */
	after(ms: number, run: () => void, holdsProcess: boolean): Stoppable;
	/** Runs it once, at most 0.1 s later and 0.4 s sooner, when the thread has other such work to do too; the process may end first. */
	about(ms: number, run: () => void): Stoppable;
	/** Runs it repeatedly, as often as it says on average, together with other such work; the process may end at any time. */
	every(ms: number, run: () => void): Stoppable;
}

export interface Stoppable {
	stop(): void;
}

/** Returns milliseconds of the clock that all threads of a process share; performance.now() counts from the start of each. */
export function steadyMs(): number {
	const [seconds, nanoseconds] = process.hrtime();
	return seconds * 1e3 + nanoseconds / 1e6;
}

/**
 * Work that recurs every half second, or every few of them, is due on the same strokes in a thread. Each time that an idle thread wakes costs more than
 * most of such work, and without strokes it would wake for each by itself.
 */
const strokeMs = 500;
const laterMsMax = 100;

/**
 * Returns the pause until the last stroke that is at most a tenth of a second later than this time from now, and so at most four tenths sooner; the time
 * itself where it is no number of strokes.
 */
function untilStroke(ms: number): number {
	if (ms % strokeMs !== 0) return ms;
	const nowMs = performance.now();
	return Math.ceil(Math.floor((nowMs + ms + laterMsMax) / strokeMs) * strokeMs - nowMs);
}

function onStrokes(ms: number, run: () => void): Stoppable {
	let timer: NodeJS.Timeout;
	const wait = () => {
		timer = setTimeout(() => {
			wait();
			run();
		}, untilStroke(ms)).unref();
	};
	wait();
	return { stop: () => clearTimeout(timer) };
}

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
	about: (ms, run) => systemTimers.after(untilStroke(ms), run, false),
	every: (ms, run) => {
		if (ms % strokeMs === 0) return onStrokes(ms, run);
		const timer = setInterval(run, ms).unref();
		return { stop: () => clearInterval(timer) };
	},
};
