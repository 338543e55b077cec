import { memoryOf } from './store.ts';

/** The place of the user when the entry was left. */
export interface Left {
	scrollY: number;
	/** The address of the row that had the focus. */
	row: string | undefined;
}

export function rememberPlace(entry: string): void {
	const row = document.activeElement?.closest('[data-row]')?.querySelector('[data-row-link]')?.getAttribute('href') ?? undefined;
	memoryOf(entry).set('left', { scrollY, row } satisfies Left);
}

/** Returns to where the user was as soon as the page is long enough for it. Whatever the user does meanwhile ends the attempt. */
export function returnTo({ scrollY: top, row }: Left): () => void {
	const main = document.getElementById('main') ?? document.body;
	const ends = new AbortController();
	const attempt = () => {
		const link = row === undefined ? undefined : main.querySelector<HTMLElement>(`[data-row-link][href="${CSS.escape(row)}"]`);
		if (document.documentElement.scrollHeight < top + innerHeight || link === null) return;
		scrollTo(0, top);
		link?.focus({ preventScroll: true });
		ends.abort();
	};
	const watched = new MutationObserver(attempt);
	watched.observe(main, { childList: true, subtree: true });
	ends.signal.addEventListener('abort', () => watched.disconnect());
	for (const name of ['wheel', 'pointerdown', 'keydown', 'touchmove'] as const) {
		addEventListener(name, () => ends.abort(), { signal: ends.signal, passive: true });
	}
	attempt();
	return () => ends.abort();
}
