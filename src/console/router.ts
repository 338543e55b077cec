import { createStore, useStore } from './store.ts';

/** The current location. Paths and queries contain slugs and ids, never a patient's data. */
export interface Place {
	path: string;
	query: URLSearchParams;
}

function current(): Place {
	return { path: location.pathname, query: new URLSearchParams(location.search) };
}

export const place = createStore<Place>(current());

export function usePlace(): Place {
	return useStore(place);
}

export function navigate(to: string, { replace = false } = {}): void {
	history[replace ? 'replaceState' : 'pushState'](null, '', to);
	place.set(current());
}

/** Changes members of the query in place; an empty value removes one. */
export function setQuery(members: Record<string, string>): void {
	const { path, query } = current();
	for (const [name, value] of Object.entries(members)) {
		if (value === '') query.delete(name);
		else query.set(name, value);
	}
	const text = query.toString();
	navigate(text === '' ? path : `${path}?${text}`, { replace: true });
}

/** `/sites/:slug` of `/sites/north` → `{ slug: 'north' }` */
export function match(pattern: string, path: string): Record<string, string> | undefined {
	const [wanted, found] = [pattern.split('/'), path.replace(/(?<=.)\/$/, '').split('/')];
	if (wanted.length !== found.length) return undefined;
	const parameters: Record<string, string> = {};
	for (const [index, part] of wanted.entries()) {
		const text = found[index] ?? '';
		if (part.startsWith(':')) parameters[part.slice(1)] = decoded(text);
		else if (part !== text) return undefined;
	}
	return parameters;
}

function decoded(text: string): string {
	try {
		return decodeURIComponent(text);
	} catch {
		// An invalid escape is taken literally.
		return text;
	}
}

/** Ordinary links stay within the page. The browser handles those with a modifier, a target or another origin. */
function follow(event: MouseEvent): void {
	if (event.defaultPrevented || event.button !== 0 || event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return;
	const link = event.target instanceof Element ? event.target.closest('a') : null;
	if (link === null || link.target !== '' || link.hasAttribute('download') || link.origin !== location.origin) return;
	if (link.pathname.startsWith('/api/') || (link.hash !== '' && link.pathname === location.pathname)) return;
	event.preventDefault();
	navigate(`${link.pathname}${link.search}`);
}

export function startRouter(): void {
	document.addEventListener('click', follow);
	addEventListener('popstate', () => place.set(current()));
}
