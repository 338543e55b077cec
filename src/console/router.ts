import { rememberPlace } from './return.ts';
import { createStore, useStore } from './store.ts';
import { isUnsaved, whenLeft } from './unsaved.ts';

/** The current location. Paths and queries contain slugs, ids and filters, never a patient's data. */
export interface Place {
	path: string;
	query: URLSearchParams;
	/** The entry of the browser's history; Back returns to it. */
	entry: string;
}

interface EntryState {
	entry: string;
	/** Counts the entries of this tab. */
	index: number;
	/** The path of the entry before it; empty if the page was opened here. */
	from: string;
}

const started = Math.trunc(performance.timeOrigin).toString(36);
let entries = 0;

function stateNow(): EntryState | undefined {
	const state: unknown = history.state;
	return typeof state === 'object' && state !== null && 'entry' in state ? (state as EntryState) : undefined;
}

function newState(index: number, from: string): EntryState {
	entries++;
	return { entry: `${started}-${entries}`, index, from };
}

function current(): Place {
	const { entry } = stateNow() ?? { entry: '' };
	return { path: location.pathname, query: new URLSearchParams(location.search), entry };
}

if (stateNow() === undefined) history.replaceState(newState(0, ''), '');
/** The index of the entry that is shown, which the browser may have left already. */
let shownIndex = stateNow()?.index ?? 0;

export const place = createStore<Place>(current());

export function usePlace(): Place {
	return useStore(place);
}

function show(): void {
	shownIndex = stateNow()?.index ?? shownIndex;
	place.set(current());
}

/** Asks before unsaved edits are left. */
export function navigate(to: string, { replace = false } = {}): void {
	if (replace) {
		history.replaceState(history.state, '', to);
		show();
		return;
	}
	whenLeft(() => {
		rememberPlace(place.get().entry);
		history.pushState(newState(shownIndex + 1, place.get().path), '', to);
		show();
	});
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

/** Goes to the screen above: back to its rows and place where the user came from there, and otherwise to it anew. */
export function goUp(event: MouseEvent, href: string): void {
	if (event.ctrlKey || event.metaKey || event.shiftKey || event.button !== 0) return;
	const [path] = href.split('?');
	if (stateNow()?.from !== path) return;
	event.preventDefault();
	history.back();
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

/** The browser has gone already when it tells; with unsaved edits the page goes back to where they are, and asks. */
function travelled(): void {
	const state = stateNow();
	// A fragment that somebody typed makes an entry without a state.
	if (state === undefined) history.replaceState(newState(shownIndex + 1, place.get().path), '');
	const distance = (stateNow()?.index ?? 0) - shownIndex;
	if (distance === 0) return;
	if (isUnsaved()) {
		history.go(-distance);
		whenLeft(() => history.go(distance));
		return;
	}
	rememberPlace(place.get().entry);
	show();
}

export function startRouter(): void {
	history.scrollRestoration = 'manual';
	document.addEventListener('click', follow);
	addEventListener('popstate', travelled);
}
