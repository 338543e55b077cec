import type { Statement } from '../statement.ts';

/**
 * Locks the turns of the batch's sites in id order and advances them. The holder of a site's turn is its only writer, on any node, until it
 * commits. Returns each site's last sequence number of this batch, and the number of the state of its authorities.
 */
export const takeTurns: Statement = {
	name: 'take_turns',
	text: `
insert into site_turn as t (site_id, sequence)
select k.site_id, k.taken
from unnest($1::uuid[], $2::bigint[]) as k (site_id, taken)
order by k.site_id
on conflict (site_id) do update set sequence = t.sequence + excluded.sequence
returning t.site_id, t.sequence, t.authority_version`,
};

/** The sequence number is counted for each message, whatever is stored. */
export const foreseenTurns = { read: takeTurns, column: 1 };
