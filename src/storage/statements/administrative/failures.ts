import type { Statement } from '../../statement.ts';
import { causeOf, firstSurfaceOf, shapeOf } from './search-messages.ts';

/** Tells whether a person has set the message aside, because it will never be mended. */
const isSetAside = (m: string) => `exists (select from set_aside_message w where w.site_id = ${m}.site_id and w.message_id = ${m}.id)`;

/** Tells whether another message stands in the place of this one: a replay, or a repetition of its sender that succeeded. */
const isMended = (m: string) => `(
	exists (select from message_log r where r.site_id = ${m}.site_id and r.replay_of = ${m}.id)
	or exists (
		select from message_log a
		where a.site_id = ${m}.site_id and a.control_id = ${m}.control_id and a.control_id <> '' and a.id > ${m}.id
			and a.client_id = ${m}.client_id and a.message_type = ${m}.message_type and a.outcome <> 'refused'))`;

/** Tells whether a refused message still waits for a person. */
const isOpen = (m: string) => `(not ${isMended(m)} and not ${isSetAside(m)})`;

/** A replay that was refused again counts in the place of its message. */
const isReplayedInVain = (m: string) =>
	`exists (select from message_log r where r.site_id = ${m}.site_id and r.replay_of = ${m}.id and r.outcome = 'refused')`;

/** Selects the newest refused messages of a site; `$2` is the largest number, `$3` the start of the period. */
const refused = (site: string) => `
	select m.site_id, m.id, m.kind, m.surface, m.replay_of, m.client_id, m.source, m.received_at, m.message_type, m.control_id, m.failure_code, m.failure
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
	select m.cause as id, max(m.kind) as kind, m.surface, m.message_type, m.failure_code, m.shape as failure,
		(count(*) filter (where not ${isReplayedInVain('m')}))::integer as messages,
		(count(*) filter (where ${isOpen('m')}))::integer as open,
		(count(*) filter (where ${isSetAside('m')} and not ${isMended('m')}))::integer as set_aside,
		min(m.received_at) as first_at, max(m.received_at) as last_at, max(m.id::text)::uuid as last_id,
		(max(m.id::text) filter (where ${isOpen('m')}))::uuid as open_id,
		(select case when count(*) >= $2::integer then min(b.received_at) end from (${refused('s.id')}) b) as looked_back_to
	from (
		select r.site_id, r.id, r.kind, ${firstSurfaceOf('r')} as surface, r.client_id, r.received_at, r.message_type, r.control_id, r.failure_code,
			${causeOf('r')} as cause, ${shapeOf('r')} as shape
		from (${refused('s.id')}) r
	) m
	group by m.surface, m.message_type, m.failure_code, m.cause, m.shape
	having count(*) filter (where not ${isReplayedInVain('m')}) > 0
) f
where $1::text[] is null or s.slug = any ($1)
order by (f.open > 0) desc, f.last_at desc
limit 500`,
};

/** Lists the messages of a cause (`$4`) to be replayed, oldest first. Of messages with the same control id only the last is listed. */
export const openMessages: Statement = {
	name: 'open_messages',
	text: `
select m.id, m.kind, ${firstSurfaceOf('m')} as surface, m.message_type, m.client_id, m.source
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

/** The cause of a refused message, and the open messages of that cause on both sides of it. `$3` is the largest number that is looked at. */
export const placeInCause: Statement = {
	name: 'place_in_cause',
	text: `
select c.cause as id, c.is_open, c.is_set_aside, p.id as previous, n.id as next
from (
	select m.site_id, m.id, ${causeOf('m')} as cause, ${isOpen('m')} as is_open, ${isSetAside('m')} as is_set_aside
	from message_log m
	where m.site_id = $1::uuid and m.id = $2::uuid and m.outcome = 'refused'
) c
left join lateral (
	select m.id from (
		select * from message_log l
		where l.site_id = $1::uuid and l.outcome = 'refused' and l.outcome <> 'accepted' and l.id > c.id
		order by l.id limit $3::integer
	) m
	where ${causeOf('m')} = c.cause and ${isOpen('m')}
	order by m.id limit 1
) p on true
left join lateral (
	select m.id from (
		select * from message_log l
		where l.site_id = $1::uuid and l.outcome = 'refused' and l.outcome <> 'accepted' and l.id < c.id
		order by l.id desc limit $3::integer
	) m
	where ${causeOf('m')} = c.cause and ${isOpen('m')}
	order by m.id desc limit 1
) n on true`,
};

/**
 * Tells whether a person has changed what decides about messages since the message `$2` was logged: settings, clients, keys, authorities,
 * profiles, patients or studies. Ids of events are ordered by time, like those of messages.
 */
export const changedSince: Statement = {
	name: 'changed_since_refusal',
	text: `
select exists (
	select from audit_event a
	where a.site_id = $1::uuid and a.id > $2::uuid and (
		a.action ~ '^(site|client|key)[.](add|set|create|remove|rotate|rederive)$' or a.action ~ '^(authority[.](add|join|undo)|profile[.](add|remove))$'
		or a.action ~ '^(patient[.](merge|unmerge)|study[.](assign|move|split|undo))$')
) as is_changed`,
};

/** Sets messages aside; those that are set aside already keep their reason. */
export const setAside: Statement = {
	name: 'set_aside_messages',
	text: `
insert into set_aside_message (site_id, message_id, reason, actor)
select $1::uuid, m.id, $3, $4
from message_log m
where m.site_id = $1::uuid and m.id = any ($2::uuid[]) and m.outcome = 'refused'
on conflict do nothing
returning message_id as id`,
};

export const takeUpAgain: Statement = {
	name: 'take_up_messages',
	text: `
delete from set_aside_message w where w.site_id = $1::uuid and w.message_id = $2::uuid
returning w.message_id as id`,
};

/** Lists what was set aside, newest message first. `$1`: slugs, or null for all. */
export const listSetAside: Statement = {
	name: 'list_set_aside',
	text: `
select k.* from site s cross join lateral (
	select m.id, s.slug as site, m.received_at, m.message_type, m.control_id, m.surface, m.failure_code, m.failure, w.reason, w.actor, w.set_aside_at
	from set_aside_message w join message_log m on m.site_id = w.site_id and m.id = w.message_id
	where w.site_id = s.id and ($2::uuid is null or w.message_id < $2)
	order by w.message_id desc
	limit $3::integer
) k
where $1::text[] is null or s.slug = any ($1)
order by k.id desc
limit $3::integer`,
};

/** Tells who set a message aside and why, and whose edit it is. */
export const handlingOf: Statement = {
	name: 'handling_of_message',
	text: `
select w.reason, w.actor as set_aside_by, w.set_aside_at, e.original_id, e.actor as edited_by, e.edited_at
from (select $1::uuid as site_id, $2::uuid as id) m
left join set_aside_message w on w.site_id = m.site_id and w.message_id = m.id
left join edited_message e on e.site_id = m.site_id and e.message_id = m.id`,
};

export const insertEdit: Statement = {
	name: 'insert_edited_message',
	text: 'insert into edited_message (site_id, message_id, original_id, actor) values ($1, $2, $3, $4)',
};
