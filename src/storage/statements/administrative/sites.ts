import { moveStates } from '#core/move-states.ts';
import type { Statement } from '../../statement.ts';

/** The turn of a new site, which its writers take. */
export const insertTurn: Statement = { name: 'insert_site_turn', text: 'insert into site_turn (site_id) values ($1)' };

export const sitesWithoutTimeZone: Statement = {
	name: 'sites_without_time_zone',
	text: `select slug from site where active and settings ->> 'time_zone' is null order by slug`,
};

/** Whether a site that may not be changed has left for another database, or arrives from one; no row for all others. */
export const readMoving: Statement = {
	name: 'read_moving',
	text: `
select s.slug, s.move_state = 'left' as left, s.move_state = 'arriving' as arriving, s.move_peer as peer
from site s
where s.id = $1 and (s.move_state in ('left', 'arriving') or s.closed_until > clock_timestamp())`,
};

/** Counts the sites that move, in the order of `moveStates`, and those that are closed to their senders until the move of them goes on or is given up. */
export const readSiteMoves: Statement = {
	name: 'read_site_moves',
	text: `
select
	${moveStates.map((state) => `count(*) filter (where s.move_state = '${state}')`).join(', ')},
	count(*) filter (where s.move_state is distinct from 'left' and s.closed_until > clock_timestamp())
from site s
where s.move_state is not null or s.closed_until is not null`,
};
