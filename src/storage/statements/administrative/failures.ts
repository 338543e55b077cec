import type { Statement } from '../../statement.ts';
import { causeOf, shapeOf } from './search-messages.ts';

/**
 * Tells whether a refused message is still unresolved: no replay has taken it, and its sender has not repeated it with success (same
 * client,
 * control id and type).
 */
const isOpen = (m: string) => `
	not exists (select from message_log r where r.site_id = ${m}.site_id and r.replay_of = ${m}.id)
	and not exists (
		select from message_log a
		where a.site_id = ${m}.site_id and a.control_id = ${m}.control_id and a.control_id <> '' and a.id > ${m}.id
			and a.client_id = ${m}.client_id and a.message_type = ${m}.message_type and a.outcome <> 'refused')`;

/** Selects the newest refused messages of a site; `$2` is the largest number, `$3` the start of the period. */
const refused = (site: string) => `
	select m.site_id, m.id, m.kind, m.surface, m.client_id, m.received_at, m.message_type, m.control_id, m.failure_code, m.failure
	from message_log m
	where m.site_id = ${site} and m.outcome = 'refused' and m.outcome <> 'accepted' and ($3::timestamptz is null or m.received_at >= $3)
	order by m.id desc
	limit $2::integer`;

/**
 * Lists refused messages by cause. `$1`: slugs of sites, or null for all. `looked_back_to` is the oldest message examined, if older ones
 * may
 * exist.
 */
export const listFailures: Statement = {
	name: 'list_failures',
	text: `
select s.slug as site, f.*
from site s cross join lateral (
	select ${causeOf('m')} as id, max(m.kind) as kind, m.surface, m.message_type, m.failure_code, ${shapeOf('m')} as failure,
		count(*)::integer as messages, count(*) filter (where ${isOpen('m')})::integer as open,
		min(m.received_at) as first_at, max(m.received_at) as last_at, max(m.id::text)::uuid as last_id,
		(select case when count(*) >= $2::integer then min(b.received_at) end from (${refused('s.id')}) b) as looked_back_to
	from (${refused('s.id')}) m
	group by m.surface, m.message_type, m.failure_code, ${causeOf('m')}, ${shapeOf('m')}
) f
where $1::text[] is null or s.slug = any ($1)
order by (f.open > 0) desc, f.last_at desc
limit 500`,
};

/** Lists the messages of a cause (`$4`) to be replayed, oldest first. Of messages with the same control id only the last is listed. */
export const openMessages: Statement = {
	name: 'open_messages',
	text: `
select m.id, m.kind, m.surface, m.message_type
from (${refused('$1::uuid')}) m
where ${causeOf('m')} = $4 and ${isOpen('m')}
	and not exists (
		select from message_log l
		where l.site_id = m.site_id and l.control_id = m.control_id and l.control_id <> '' and l.id > m.id
			and l.client_id = m.client_id and l.message_type = m.message_type)
order by m.id
limit $5::integer`,
};

/** Tells whether a message is still unresolved. */
export const isOpenMessage: Statement = {
	name: 'is_open_message',
	text: `select from message_log m where m.site_id = $1 and m.id = $2 and ${isOpen('m')}`,
};
