import type { Statement } from '../../statement.ts';

/** Lists doubts of a site, newest first. `$2` holds their kinds, `$3` tells whether the settled ones are meant. */
export const listDoubts: Statement = {
	name: 'list_identity_doubts',
	text: `
select d.id, d.kind, d.text, d.count, d.patient_id, d.other_patient_id, d.study_uid,
	d.first_message_id, d.first_surface, d.first_at, d.last_message_id, d.last_surface, d.last_at,
	d.settled_at, d.settled_by, d.settled_how
from identity_doubt d
where d.site_id = $1 and d.kind = any ($2::text[]) and (d.settled_at is not null) = $3::boolean and ($4::uuid is null or d.id < $4)
order by d.id desc
limit $5::integer`,
};

/** Dismisses open doubts. Returns those that were open. */
export const dismissDoubts: Statement = {
	name: 'dismiss_identity_doubts',
	text: `
update identity_doubt d set settled_at = $3::timestamptz, settled_by = $4, settled_how = 'dismissed'
where d.site_id = $1 and d.id = any ($2::uuid[]) and d.settled_at is null
returning d.id`,
};
