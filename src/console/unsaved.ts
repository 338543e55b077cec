import { useLayoutEffect } from 'preact/hooks';
import { createStore } from './store.ts';

/** One member for each form whose values differ from what is stored. */
const edited = new Set<object>();

/** Goes on to what the user wanted, once the edits are given up; undefined while nobody is asked. */
export const leaving = createStore<(() => void) | undefined>(undefined);

export function useUnsaved(isEdited: boolean): void {
	useLayoutEffect(() => {
		if (!isEdited) return;
		const form = {};
		edited.add(form);
		return () => void edited.delete(form);
	}, [isEdited]);
}

export function isUnsaved(): boolean {
	return edited.size > 0;
}

/** Goes on at once, or after the user has given the unsaved edits up. */
export function whenLeft(go: () => void): void {
	if (!isUnsaved()) {
		go();
		return;
	}
	leaving.set(() => {
		leaving.set(undefined);
		edited.clear();
		go();
	});
}

export function startUnsaved(): void {
	addEventListener('beforeunload', (event) => {
		if (isUnsaved()) event.preventDefault();
	});
}
