import type { Log } from './log.ts';
import { RepeatedTrouble } from './repeated.ts';
import { type Stoppable, systemTimers, type Timers } from './timers.ts';

export interface WatchOptions {
	/** The pause between two looks. The first one begins at once. */
	everyMs: number;
	/** May reject: what was found before then stands. */
	look(): Promise<void>;
	/** The line of the log about a look that failed. With `warn`, a look that fails again and again is told as a trouble that repeats itself. */
	failure: string;
	/** It is `debug` unless given: another metric shows that the database is away, so the line is one for whoever searches. */
	level?: 'debug' | 'warn';
	log: Log;
	timers?: Timers;
}

export interface Watch {
	/** Resolves behind the first look, also when it failed. */
	readonly first: Promise<void>;
	/** Looks no more; resolves when no look is under way. */
	close(): Promise<void>;
}

/** Looks at something again and again, one look at a time, until it is closed. */
export function watch({ everyMs, look, failure, level = 'debug', log, timers = systemTimers }: WatchOptions): Watch {
	let timer: Stoppable | undefined;
	let isClosed = false;
	const trouble = level === 'warn' ? new RepeatedTrouble(log, failure) : undefined;
	const lookOnce = async () => {
		try {
			await look();
			trouble?.over();
		} catch (error) {
			if (trouble === undefined) log.debug({ err: error }, failure);
			else trouble.happened(error);
		}
		if (!isClosed) timer = timers.about(everyMs, again);
	};
	const again = () => {
		looking = lookOnce();
	};
	let looking = lookOnce();
	return {
		first: looking,
		async close() {
			isClosed = true;
			timer?.stop();
			await looking;
		},
	};
}

/**
 * Does something again and again, the first time after a pause. A time that failed is made up for by the next one, so nobody is told of it.
 * @returns what ends it, and resolves when none is under way
 */
export function repeatedly(everyMs: number, act: () => Promise<unknown>): () => Promise<void> {
	let acting: Promise<unknown> = Promise.resolve();
	const timer = systemTimers.every(everyMs, () => {
		acting = act().catch(() => undefined);
	});
	return async () => {
		timer.stop();
		await acting;
	};
}
