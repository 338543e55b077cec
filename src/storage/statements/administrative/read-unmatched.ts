import type { Statement } from '../../statement.ts';

const columns = `u.id, u.received_at, s.slug as site, u.surface, u.source, u.reason, u.message_type, u.control_id, u.sending_application,
	u.sending_facility, u.called_ae, u.calling_ae, u.replayed_at, u.replayed_as,
	case when u.surface = 'mllp' and u.sending_application is null then substring(u.bytes from 1 for 512) end as head`;

/** Messages that belong to no site, newest first: those of the sites `$1`, or all of them if that is null. `$4` and `$5` bound the ids. */
export const listUnmatched: Statement = {
	name: 'list_unmatched',
	text: `
select ${columns}
from unmatched_message u left join site s on s.id = u.site_id
where ($1::uuid[] is null or u.site_id = any ($1::uuid[])) and ($2::uuid is null or u.id < $2)
	and ($4::uuid is null or u.id >= $4) and ($5::uuid is null or u.id < $5)
order by u.id desc
limit $3`,
};

export const showUnmatched: Statement = {
	name: 'show_unmatched',
	text: `select ${columns}, u.bytes from unmatched_message u left join site s on s.id = u.site_id where u.id = $1::uuid`,
};

/** A message of a client that has the same control id and was not refused. */
export const acceptedSince: Statement = {
	name: 'accepted_since',
	text: `
select id from message_log
where site_id = $1 and client_id = $2 and control_id = $3 and control_id <> '' and outcome <> 'refused' and received_at >= $4
limit 1`,
};

export const noteUnmatchedReplay: Statement = {
	name: 'note_unmatched_replay',
	text: 'update unmatched_message set replayed_at = $2, replayed_as = $3 where id = $1',
};
