import type { SiteRecord } from '#administration/sites.ts';
import { call } from './api.ts';
import { place, setQuery, usePlace } from './router.ts';
import { createStore, useStore } from './store.ts';

/** The sites of the signed-in user. */
export const sites = createStore<readonly SiteRecord[]>([]);

const listSites = call<object, SiteRecord[]>('GET', '/sites');

/** False until the sites have been read. */
const known = createStore(false);

/** Reads the sites again after a change. */
export async function refreshSites(): Promise<void> {
	sites.set(await listSites());
	known.set(true);
}

/** True if the user has no site: either there is none yet, or none is given to the user. */
export function useHasNoSite(): boolean {
	const count = useStore(sites).length;
	return useStore(known) && count === 0;
}

export function useSites(): readonly SiteRecord[] {
	return useStore(sites);
}

/** The site to which lists are narrowed. If undefined, they show all sites of the user. */
export function useSiteScope(): string | undefined {
	return usePlace().query.get('site') ?? undefined;
}

export function setSiteScope(slug: string | undefined): void {
	setQuery({ site: slug ?? '' });
}

/** Adds to a path the site to which lists are narrowed. */
export function scoped(path: string): string {
	const site = place.get().query.get('site');
	return site === null ? path : `${path}?${new URLSearchParams({ site })}`;
}
