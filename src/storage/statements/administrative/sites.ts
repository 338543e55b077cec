import type { Statement } from '../../statement.ts';

/** The turn of a new site, which its writers take. */
export const insertTurn: Statement = { name: 'insert_site_turn', text: 'insert into site_turn (site_id) values ($1)' };

export const sitesWithoutTimeZone: Statement = {
	name: 'sites_without_time_zone',
	text: `select slug from site where active and settings ->> 'time_zone' is null order by slug`,
};
