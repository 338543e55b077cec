import { z } from 'zod';
import { isUid } from '#record/uid.ts';

/** An instant, as in every answer. */
export const instant = z.iso.datetime();

/** A point in time at which a list begins or ends. */
export const time = z.iso.datetime({ offset: true }).or(z.iso.date());

/** The UID of something that is stored. */
export const uid = z.string().refine((text) => isUid(text, 'lenient'), 'must be a UID');

/** The id of the last item on the previous page, and the number of items per page. */
export const page = (fallback: number) => ({
	before: z.uuid().optional(),
	limit: z.coerce.number().int().min(1).max(1000).default(fallback),
});

/** The site to list; by default, all sites of the caller. */
export const ofSite = { site: z.string().optional() };
