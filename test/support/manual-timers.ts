import type { Stoppable, Timers } from '#core/timers.ts';

interface Entry {
	atMs: number;
	everyMs: number | undefined;
	run: () => void;
	holdsProcess: boolean;
}

/** Time that goes on when the test says so. */
export class ManualTimers implements Timers {
	#nowMs = 0;
	#soon: (() => void)[] = [];
	readonly #entries = new Set<Entry>();

	elapsedMs(): number {
		return this.#nowMs;
	}

	soon(run: () => void): void {
		this.#soon.push(run);
	}

	after(ms: number, run: () => void, holdsProcess: boolean): Stoppable {
		return this.#add({ atMs: this.#nowMs + ms, everyMs: undefined, run, holdsProcess });
	}

	about(ms: number, run: () => void): Stoppable {
		return this.after(ms, run, false);
	}

	every(ms: number, run: () => void): Stoppable {
		return this.#add({ atMs: this.#nowMs + ms, everyMs: ms, run, holdsProcess: false });
	}

	#add(entry: Entry): Stoppable {
		this.#entries.add(entry);
		return { stop: () => this.#entries.delete(entry) };
	}

	/** Milliseconds until what is due later, in order. */
	get due(): number[] {
		return [...this.#entries].map(({ atMs }) => atMs - this.#nowMs).sort((left, right) => left - right);
	}

	/** Whether something that is due later keeps the process. */
	get holdsProcess(): boolean {
		return [...this.#entries].some((entry) => entry.holdsProcess);
	}

	/** Ends the I/O phase, and lets all promises that are settled by then take their course. */
	async turn(): Promise<void> {
		for (const run of this.#soon.splice(0)) run();
		await promisesSettle();
	}

	/** Ends phases until nothing is to be run soon any more. */
	async settle(): Promise<void> {
		do await this.turn();
		while (this.#soon.length > 0);
	}

	/** Goes on by so much; what becomes due is run when it is. */
	async advance(ms: number): Promise<void> {
		const untilMs = this.#nowMs + ms;
		for (;;) {
			await this.settle();
			const next = [...this.#entries].filter(({ atMs }) => atMs <= untilMs).sort((left, right) => left.atMs - right.atMs)[0];
			if (next === undefined) break;
			this.#nowMs = next.atMs;
			if (next.everyMs === undefined) this.#entries.delete(next);
			else next.atMs += next.everyMs;
			next.run();
		}
		this.#nowMs = untilMs;
	}
}

/** Resolves when no promise has anything more to do by itself. */
export function promisesSettle(): Promise<void> {
	return new Promise((resolve) => setImmediate(resolve));
}
