/** Work in the background was asked to end. */
export class Ended extends Error {}

/** Keeps background work below a number of bytes a second, and ends it when the service ends. */
export class Pace {
	readonly #bytesPerSecond: number;
	readonly #waiting = new Set<() => void>();
	#hasEnded = false;

	constructor(bytesPerSecond: number) {
		this.#bytesPerSecond = bytesPerSecond;
	}

	/** @throws Ended */
	stopIfEnded(): void {
		if (this.#hasEnded) throw new Ended('the service ends');
	}

	/** Waits for as long as so many bytes may take. @throws Ended */
	async rest(bytes: number): Promise<void> {
		this.stopIfEnded();
		await new Promise<void>((resolve) => {
			const done = () => {
				clearTimeout(timer);
				this.#waiting.delete(done);
				resolve();
			};
			const timer = setTimeout(done, (bytes / this.#bytesPerSecond) * 1000);
			this.#waiting.add(done);
		});
		this.stopIfEnded();
	}

	end(): void {
		this.#hasEnded = true;
		for (const done of this.#waiting) done();
	}
}
