import type { SiteRecord } from '#administration/sites.ts';
import { call } from './api.ts';
import { place, setQuery, usePlace } from './router.ts';
import { createStore, useStore } from './store.ts';

/** The sites of who is signed in, for choosing among them. */
export const sites = createStore<readonly SiteRecord[]>([]);

const listSites = call<object, SiteRecord[]>('GET', '/sites');

/** Reads the sites again, after one was changed. */
export async function refreshSites(): Promise<void> {
	sites.set(await listSites());
}

export function useSites(): readonly SiteRecord[] {
	return useStore(sites);
}

/** The site that lists are narrowed to; undefined: all of the user's. */
export function useSiteScope(): string | undefined {
	return usePlace().query.get('site') ?? undefined;
}

export function setSiteScope(slug: string | undefined): void {
	setQuery({ site: slug ?? '' });
}

/** The path, with the site that the lists are narrowed to. */
export function scoped(path: string): string {
	const site = place.get().query.get('site');
	return site === null ? path : `${path}?${new URLSearchParams({ site })}`;
}
