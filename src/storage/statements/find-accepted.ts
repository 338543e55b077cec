import type { Statement } from '../statement.ts';

/** Returns earlier accepted messages with the same control ids, with the acknowledgement if the bytes are the same. */
export const findAccepted: Statement = {
	name: 'find_accepted',
	text: `
select a.site_id, a.client_id, a.control_id, a.digest, a.message_id, m.ack
from unnest($1::uuid[], $2::uuid[], $3::text[], $4::uuid[]) as k (site_id, client_id, control_id, digest)
join accepted_message a on a.site_id = k.site_id and a.client_id = k.client_id and a.control_id = k.control_id
left join message_log m on m.site_id = a.site_id and m.id = a.message_id and a.digest = k.digest`,
};
