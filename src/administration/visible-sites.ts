import { Site } from '#storage/entities/index.ts';
import { type AdministrationContext, AdministrationError } from './context.ts';
import type { Found } from './operation.ts';

/** The condition that limits entities to the visible sites. */
export function ofVisibleSites({ visibleSites }: AdministrationContext): { site?: { slug: { $in: string[] } } } {
	return visibleSites === 'all' ? {} : { site: { slug: { $in: [...visibleSites] } } };
}

/**
 * The site parameter of statements; null stands for all sites.
 * @throws AdministrationError if one of the sites does not exist
 */
export async function visibleSiteIds({ em, visibleSites }: Pick<AdministrationContext, 'em' | 'visibleSites'>): Promise<string[] | null> {
	if (visibleSites === 'all') return null;
	const sites = await em.fork().find(Site, { slug: { $in: [...visibleSites] } });
	const missing = visibleSites.find((slug) => !sites.some((site) => site.slug === slug));
	if (missing !== undefined) throw new AdministrationError(`there is no site '${missing}'`, 'not-found', 'site');
	return sites.map(({ id }) => id);
}

/** For `find`: turns the error for a missing object into null. */
export async function foundOrNull<Thing extends { site: string }>(look: Promise<Thing>): Promise<Found<Thing> | null> {
	try {
		const found = await look;
		return { site: found.site, found };
	} catch (error) {
		if (error instanceof AdministrationError && error.fault === 'not-found') return null;
		throw error;
	}
}
