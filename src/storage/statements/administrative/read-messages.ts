import type { Statement } from '../../statement.ts';

/** The message log of some sites or of all, newest first; every filter that is null asks for nothing. Each site's log is read from its end. */
export const listMessages: Statement = {
	name: 'list_messages',
	text: `
select m.id, s.slug as site, m.received_at, m.committed_at, m.surface, c.name as client, m.source, m.message_type, m.control_id, m.outcome,
	m.failure_code, m.failure, m.flags, m.sequence
from site s
cross join lateral (
	select * from message_log l
	where l.site_id = s.id
		and ($2::text is null or l.outcome = $2)
		and ($3::text is null or l.message_type = $3)
		and ($4::text is null or l.control_id = $4)
		and ($5::timestamptz is null or l.received_at >= $5)
		and ($6::timestamptz is null or l.received_at < $6)
		and ($7::uuid is null or l.id < $7)
	order by l.id desc
	limit $8
) m
left join integration_client c on c.site_id = m.site_id and c.id = m.client_id
where $1::uuid[] is null or s.id = any ($1)
order by m.id desc
limit $8`,
};

export const showMessage: Statement = {
	name: 'show_message',
	text: `
select m.id, m.site_id, s.slug as site, s.default_authority, s.update_creates, s.check_references, m.received_at, m.committed_at, m.surface, m.client_id, c.name as client, m.source,
	m.message_type, m.control_id, m.outcome, m.failure_code, m.failure, m.flags, m.changed, m.sequence, m.replay_of, m.bytes, m.ack,
	c.also_events, c.ignore_events, c.ack_mode
from message_log m
join site s on s.id = m.site_id
left join integration_client c on c.site_id = m.site_id and c.id = m.client_id
where m.id = $1`,
};

/** Messages that belong to no site, newest first. */
export const listUnmatched: Statement = {
	name: 'list_unmatched',
	text: `
select id, received_at, surface, source, reason, message_type, control_id
from unmatched_message
where $1::uuid is null or id < $1
order by id desc
limit $2`,
};
