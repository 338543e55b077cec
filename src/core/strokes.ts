/**
 * Work that recurs every half second, or every few of them, is due on the same strokes in a thread. Each time that an idle thread wakes costs more than
 * most of such work, and without strokes it would wake for each by itself.
 */
export const strokeMs = 500;
const laterMsMax = 100;

/**
 * Returns the number of the last stroke that is at most a tenth of a second later than this time from now, and so at most four tenths sooner. A
 * promise such as "trouble is known within two seconds" bears that much, and not half a stroke more.
 */
export function strokeAt(ms: number, nowMs: number): number {
	return Math.floor((nowMs + ms + laterMsMax) / strokeMs);
}

type Run = () => void;

export interface Stoppable {
	stop(): void;
}

/** Keeps what is due on the strokes of this thread, with one timer for all of it. */
class Strokes {
	readonly #due = new Map<number, Set<Run>>();
	#timer: NodeJS.Timeout | undefined;
	#timerIsFor = Number.POSITIVE_INFINITY;

	once(ms: number, run: Run): Stoppable {
		const stroke = strokeAt(ms, performance.now());
		// The same function may be due twice.
		const own = () => run();
		const due = this.#due.get(stroke);
		if (due === undefined) this.#due.set(stroke, new Set([own]));
		else due.add(own);
		if (stroke < this.#timerIsFor) this.#wait(stroke);
		return { stop: () => this.#due.get(stroke)?.delete(own) };
	}

	every(ms: number, run: Run): Stoppable {
		let next: Stoppable;
		const again = () => {
			next = this.once(ms, again);
			run();
		};
		next = this.once(ms, again);
		return { stop: () => next.stop() };
	}

	#wait(stroke: number): void {
		clearTimeout(this.#timer);
		this.#timerIsFor = stroke;
		this.#timer = setTimeout(() => this.#strike(stroke), Math.max(1, Math.ceil(stroke * strokeMs - performance.now()))).unref();
	}

	/** Runs what is due on the first stroke. What is stopped by another of the same stroke is not run. */
	#strike(stroke: number): void {
		this.#timerIsFor = Number.POSITIVE_INFINITY;
		for (const run of this.#due.get(stroke) ?? []) run();
		this.#due.delete(stroke);
		const next = Math.min(...this.#due.keys());
		if (next < this.#timerIsFor) this.#wait(next);
	}
}

export const strokes = new Strokes();
