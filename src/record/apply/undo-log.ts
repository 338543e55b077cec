/** Notes how to undo the changes that a message made to a working set. */
export class UndoLog {
	#undo: (() => void)[] = [];

	/** Runs one message's changes. When it throws, none of them stays. */
	attempt<T>(changes: () => T): T {
		this.#undo = [];
		try {
			return changes();
		} catch (error) {
			for (let index = this.#undo.length - 1; index >= 0; index--) this.#undo[index]?.();
			this.#undo = [];
			throw error;
		}
	}

	/** Runs a part of a message's changes. When it throws, none of the part stays; the message may go on. */
	attemptPart<T>(changes: () => T): T {
		const before = this.#undo;
		try {
			return this.attempt(changes);
		} finally {
			before.push(...this.#undo);
			this.#undo = before;
		}
	}

	put<K, V>(map: Map<K, V>, key: K, value: V): void {
		const had = map.has(key);
		const before = map.get(key) as V;
		map.set(key, value);
		this.#undo.push(() => (had ? map.set(key, before) : map.delete(key)));
	}

	push<T>(list: T[], item: T): void {
		list.push(item);
		this.#undo.push(() => list.pop());
	}
}
