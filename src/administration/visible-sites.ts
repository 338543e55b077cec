import { Site } from '#storage/entities/index.ts';
import { type AdministrationContext, AdministrationError } from './context.ts';

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

/** For `siteOf`: the site of an object that is shown, null where showing it says that there is none. */
export async function siteOfShown(show: Promise<{ site: string }>): Promise<string | null> {
	try {
		return (await show).site;
	} catch (error) {
		if (error instanceof AdministrationError && error.fault === 'not-found') return null;
		throw error;
	}
}
