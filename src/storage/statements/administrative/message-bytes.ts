import type { Statement } from '../../statement.ts';

/** Reads the bytes of the messages `$2` of the site `$1`: null of those above 1 MiB, and none of those that repeat another message. */
export const messageBytes: Statement = {
	name: 'message_bytes',
	text: `
select m.id, case when octet_length(m.bytes) <= 1048576 then m.bytes end as bytes
from unnest($2::uuid[]) as v (id) cross join lateral (
	select l.id, l.bytes from message_log l where l.site_id = $1 and l.id = v.id offset 0
) m
where octet_length(m.bytes) > 0`,
};
