import { usePlace } from './router.ts';
import { createStore, memoryOf, type Store, useStore } from './store.ts';

/** State that returns with its entry of the history. */
export function useEntryState<T>(name: string, initial: T): [T, (next: T) => void] {
	const memory = memoryOf(usePlace().entry);
	const held = (memory.get(name) ?? createStore<unknown>(initial)) as Store<T>;
	memory.set(name, held);
	return [useStore(held), held.set];
}
