const everyMs = 5000;
const units = ['bytes', 'KiB', 'MiB', 'GiB', 'TiB', 'PiB'];

/** Tells people how far a backup or a restore has come: a line at each step, and every few seconds within one. */
export class Progress {
	readonly #say: (line: string) => void;
	readonly #startedMs = performance.now();
	#saidMs = 0;

	constructor(say: (line: string) => void) {
		this.#say = say;
	}

	/** A step begins or ends. */
	step(text: string): void {
		this.#saidMs = performance.now();
		this.#say(text);
	}

	/** A step goes on. */
	within(text: () => string): void {
		if (performance.now() - this.#saidMs >= everyMs) this.step(text());
	}

	get seconds(): number {
		return Math.round((performance.now() - this.#startedMs) / 100) / 10;
	}
}

/** Writes a number of bytes for people: `1.2 GiB`. */
export function sizeText(bytes: number): string {
	let value = bytes;
	let unit = 0;
	for (; value >= 1024 && unit < units.length - 1; unit++) value /= 1024;
	return `${unit === 0 ? value : value.toFixed(1)} ${units[unit]}`;
}
