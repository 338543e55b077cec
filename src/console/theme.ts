import { createStore } from './store.ts';

export type Theme = 'auto' | 'light' | 'dark';

const storageName = 'theme';

function stored(): Theme {
	const text = localStorage.getItem(storageName);
	return text === 'light' || text === 'dark' ? text : 'auto';
}

export const theme = createStore<Theme>(stored());

/** Sets the colours of the page and keeps nothing. */
export function apply(value: Theme): void {
	if (value === 'auto') delete document.documentElement.dataset['theme'];
	else document.documentElement.dataset['theme'] = value;
}

export function startTheme(): void {
	apply(theme.get());
	theme.subscribe((value) => {
		apply(value);
		if (value === 'auto') localStorage.removeItem(storageName);
		else localStorage.setItem(storageName, value);
	});
}
