/** Remembers the results of the last searches that took long, by key. One that failed is made again. */
export class Recent<Found> {
	readonly #most: number;
	readonly #known = new Map<string, Promise<Found>>();

	constructor(most: number) {
		this.#most = most;
	}

	of(key: string, find: () => Promise<Found>): Promise<Found> {
		const found = this.#known.get(key) ?? find();
		this.#known.delete(key);
		this.#known.set(key, found);
		const [oldest] = this.#known.keys();
		if (this.#known.size > this.#most && oldest !== undefined) this.#known.delete(oldest);
		found.catch(() => {
			if (this.#known.get(key) === found) this.#known.delete(key);
		});
		return found;
	}
}
