import type { Statement } from '../statement.ts';

/**
 * Locks the turns of the batch's sites in id order and advances them. The holder of a site's turn is its only writer, on any node, until it
 * commits. Returns each site's last sequence number of this batch, and the number of the state of its authorities. While a site is closed, because it
 * moves to another database, nobody may write a message of it; the error (SQLSTATE TR001) is none of the message. Taking no number is allowed: rows
 * may name the new places of their objects.
 */
export const takeTurns: Statement = {
	name: 'take_turns',
	text: `
insert into site_turn as t (site_id, sequence)
select k.site_id, k.taken
from unnest($1::uuid[], $2::bigint[]) as k (site_id, taken)
order by k.site_id
on conflict (site_id) do update set sequence = case
	when t.closed_until > clock_timestamp() and excluded.sequence > 0 then tributary_turn_closed()
	else t.sequence + excluded.sequence
end
returning t.site_id, t.sequence, t.authority_version`,
};

/** The sequence number is counted for each message, whatever is stored. */
export const foreseenTurns = { read: takeTurns, column: 1 };
