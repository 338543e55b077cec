import { z } from 'zod';

/** An instant as every answer states it. */
export const instant = z.iso.datetime();

/** A point in time that a list begins or ends at. */
export const time = z.iso.datetime({ offset: true }).or(z.iso.date());

/** The id of the last one of the page before, and how many. */
export const page = (fallback: number) => ({
	before: z.uuid().optional(),
	limit: z.coerce.number().int().min(1).max(1000).default(fallback),
});

/** The site that a list is of; without one, all that the caller may see. */
export const ofSite = { site: z.string().optional() };
