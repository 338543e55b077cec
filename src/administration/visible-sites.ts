import { Site } from '#storage/entities/index.ts';
import { type AdministrationContext, AdministrationError } from './context.ts';
import type { Found } from './operation.ts';

/** The condition on entities of sites. */
export function ofVisibleSites({ visibleSites }: AdministrationContext): { site?: { slug: { $in: string[] } } } {
	return visibleSites === 'all' ? {} : { site: { slug: { $in: [...visibleSites] } } };
}

/**
 * The parameter of statements about sites; null: all of them.
 * @throws AdministrationError when one of the sites is not there
 */
export async function visibleSiteIds({ em, visibleSites }: AdministrationContext): Promise<string[] | null> {
	if (visibleSites === 'all') return null;
	const sites = await em.fork().find(Site, { slug: { $in: [...visibleSites] } });
	const missing = visibleSites.find((slug) => !sites.some((site) => site.slug === slug));
	if (missing !== undefined) throw new AdministrationError(`there is no site '${missing}'`, 'not-found', 'site');
	return sites.map(({ id }) => id);
}

/** For `find`: an object with its site, null where looking it up says that there is none. */
export async function foundOrNull<Thing extends { site: string }>(look: Promise<Thing>): Promise<Found<Thing> | null> {
	try {
		const found = await look;
		return { site: found.site, found };
	} catch (error) {
		if (error instanceof AdministrationError && error.fault === 'not-found') return null;
		throw error;
	}
}
