import type { Statement } from '../../statement.ts';

/** Finds the logged messages that wrote versions of resources, by the control id in `meta.source` and the changes of the message. */
export const findSources: Statement = {
	name: 'find_sources',
	text: `
select k.version, (
	select m.id from message_log m
	where m.site_id = $1 and m.control_id = k.control_id and m.control_id <> '' and m.changed ? k.version
	order by m.id desc limit 1) as id
from unnest($2::text[], $3::text[]) as k (control_id, version)`,
};
