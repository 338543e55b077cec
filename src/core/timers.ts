/** Monotonic time and waiting, for code that decides when to act; tests pass their own. */
export interface Timers {
	/** Returns milliseconds since some moment; it never goes back. */
	elapsedMs(): number;
	/** Runs it at the end of the I/O phase, when all input that has arrived by then is read. */
	soon(run: () => void): void;
	/** Runs it later, once. Without `holdsProcess` the process may end first. */
	after(ms: number, run: () => void, holdsProcess: boolean): Stoppable;
	/** Runs it repeatedly; the process may end at any time. */
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
	every: (ms, run) => {
		const timer = setInterval(run, ms).unref();
		return { stop: () => clearInterval(timer) };
	},
};
