import { useEffect, useState } from 'preact/hooks';

/** A value that several components observe. */
export interface Store<T> {
	get(): T;
	set(next: T): void;
	/** @returns a function that ends the subscription */
	subscribe(listener: (value: T) => void): () => void;
}

export function createStore<T>(initial: T): Store<T> {
	let value = initial;
	const listeners = new Set<(value: T) => void>();
	return {
		get: () => value,
		set(next) {
			if (Object.is(value, next)) return;
			value = next;
			for (const listener of [...listeners]) listener(value);
		},
		subscribe(listener) {
			listeners.add(listener);
			return () => listeners.delete(listener);
		},
	};
}

export function useStore<T>(store: Store<T>): T {
	const [value, setValue] = useState(() => store.get());
	useEffect(() => {
		const take = (next: T) => setValue(() => next);
		take(store.get());
		return store.subscribe(take);
	}, [store]);
	return value;
}

const kept = new Map<string, Store<unknown>>();

/** State that outlives its screen, until the page is closed. Filters and search texts may be a patient's data, so no URL has them. */
export function useKept<T>(name: string, initial: T): [T, (next: T) => void] {
	const store = (kept.get(name) ?? createStore<unknown>(initial)) as Store<T>;
	kept.set(name, store as Store<unknown>);
	return [useStore(store), store.set];
}

/**
 * The page remembers of each entry of the browser's history the rows that were loaded, the place on the page, and filters that name a
 * patient, which no address may hold.
 */
const memories = new Map<string, Map<string, unknown>>();

/** Nobody goes back through more entries. */
const entriesMax = 50;

export function memoryOf(entry: string): Map<string, unknown> {
	const memory = memories.get(entry) ?? new Map<string, unknown>();
	memories.delete(entry);
	memories.set(entry, memory);
	for (const oldest of memories.keys()) {
		if (memories.size <= entriesMax) break;
		memories.delete(oldest);
	}
	return memory;
}

/** Clears all state, so that the next user does not see it. */
export function forgetKept(): void {
	kept.clear();
	memories.clear();
}
