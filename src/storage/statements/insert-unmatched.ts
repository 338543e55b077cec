import type { Statement } from '../statement.ts';

/** These messages belong to no site; `site_id` is the one whose people look after them, if there is one. The id makes a repeated insert harmless. */
export const insertUnmatched: Statement = {
	name: 'insert_unmatched',
	text: `
insert into unmatched_message (id, received_at, surface, source, reason, message_type, control_id, bytes, site_id,
	sending_application, sending_facility, called_ae, calling_ae)
values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13)
on conflict (id) do nothing`,
};
