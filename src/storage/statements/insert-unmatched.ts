import type { Statement } from '../statement.ts';

/** The table has no site: these messages belong to none. The id makes a repeated insert harmless. */
export const insertUnmatched: Statement = {
	name: 'insert_unmatched',
	text: `
insert into unmatched_message (id, received_at, surface, source, reason, message_type, control_id, bytes)
values ($1, $2, $3, $4, $5, $6, $7, $8)
on conflict (id) do nothing`,
};
