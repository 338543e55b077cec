/** Monotone time, and waiting, for what decides when something is done; tests pass their own. */
export interface Timers {
	/** Milliseconds since some moment; never goes back. */
	elapsedMs(): number;
	/** Runs it at the end of the I/O phase, when all that has arrived by then is read. */
	soon(run: () => void): void;
	/** Runs it later, once. Without `holdsProcess` the process may end before. */
	after(ms: number, run: () => void, holdsProcess: boolean): Stoppable;
	/** Runs it again and again; the process may end at any time. */
	every(ms: number, run: () => void): Stoppable;
}

export interface Stoppable {
	stop(): void;
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
