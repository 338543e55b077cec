import type { Log } from './log.ts';

/** A trouble that goes on has one line in this time, so that whoever looks at the log sees that it does. */
const summaryMs = 60_000;

interface Held {
	/** The time of the last line. */
	toldMs: number;
	/** The times that it has happened without a line of its own. */
	untold: number;
}

/**
 * Tells a trouble that repeats itself: the first time with its error, then once a minute how often it has happened, and in the end that it is
 * over. Troubles with different codes are told apart.
 */
export class RepeatedTrouble {
	readonly #log: Log;
	readonly #text: string;
	readonly #nowMs: () => number;
	readonly #held = new Map<string, Held>();

	constructor(log: Log, text: string, nowMs: () => number = () => performance.now()) {
		this.#log = log;
		this.#text = text;
		this.#nowMs = nowMs;
	}

	happened(error: unknown, about: object = {}): void {
		const code = codeOf(error);
		const held = this.#held.get(code);
		const nowMs = this.#nowMs();
		if (held === undefined) {
			this.#held.set(code, { toldMs: nowMs, untold: 0 });
			this.#log.warn({ ...about, err: error }, this.#text);
			return;
		}
		held.untold += 1;
		if (nowMs - held.toldMs < summaryMs) return;
		this.#log.warn({ ...about, code, times: held.untold }, `${this.#text}, still`);
		Object.assign(held, { toldMs: nowMs, untold: 0 });
	}

	/** It went well. This costs nothing as long as nothing is amiss. */
	over(about: object = {}): void {
		if (this.#held.size === 0) return;
		const times = [...this.#held.values()].reduce((sum, { untold }) => sum + untold, 0);
		this.#held.clear();
		this.#log.info({ ...about, times }, `${this.#text}: over`);
	}
}

/** The code of an error, or of what caused it: a failure of ours says the same of every trouble of the database. */
function codeOf(error: unknown): string {
	let [code, at]: [string, unknown] = ['', error];
	while (at instanceof Error) {
		const { code: own } = at as { code?: unknown };
		code = typeof own === 'string' ? own : at.name;
		at = at.cause;
	}
	return code;
}
