import { nilIdSql, type Statement } from '../../statement.ts';
import { causeOf, shapeOf } from './search-messages.ts';

/** Sites `$1`, or all where it is null; `$2` adds traffic of no site, which has the nil id. */
const shownSites = `
shown as (
	select id, slug from site where $1::uuid[] is null or id = any ($1::uuid[])
	union all
	select ${nilIdSql}, null where $2::boolean
)`;

/** Everyone who may send: clients, keys that are valid or have just been heard, and whoever else has sent since `$3`; of them the feeds `$4`, or all. */
export const listFeeds: Statement = {
	name: 'list_feeds',
	text: `
with ${shownSites},
named as (
	select c.site_id, c.id::text as feed, 'client' as kind, c.name, c.protocols, c.settings, c.active
	from shown s join integration_client c on c.site_id = s.id
	union all
	select k.site_id, k.id, 'key', coalesce(nullif(k.label, ''), k.id), array['http'], k.settings, true
	from shown s join api_key k on k.site_id = s.id
	where k.revoked_at is null and (k.expires_at is null or k.expires_at > now())
),
heard as (
	select h.site_id, h.feed
	from shown s join feed_hour h on h.site_id = s.id and h.hour >= date_trunc('hour', $3::timestamptz, 'UTC')
	group by h.site_id, h.feed
)
select s.id as site_id, s.slug as site, f.feed, coalesce(n.kind, 'other') as kind, n.name, n.protocols, n.settings, n.active,
	last.last_at, first.hour as first_hour
from (select site_id, feed from named union select site_id, feed from heard) f
join shown s on s.id = f.site_id
left join named n on n.site_id = f.site_id and n.feed = f.feed
left join lateral (select h.last_at from feed_hour h where h.site_id = f.site_id and h.feed = f.feed order by h.hour desc limit 1) last on true
left join lateral (select h.hour from feed_hour h where h.site_id = f.site_id and h.feed = f.feed order by h.hour limit 1) first on true
where $4::text[] is null or f.feed = any ($4)
order by s.slug nulls last, n.name nulls last, f.feed`,
};

/** Hours of the feeds `$5`, or of all, since `$3`. `$4` is the hour from which their minutes and their times of acknowledgement are wanted. */
export const listFeedHours: Statement = {
	name: 'list_feed_hours',
	text: `
with ${shownSites}
select h.site_id, h.feed, h.hour, h.received, h.refused,
	case when h.hour >= $4::timestamptz then h.received_by_minute end as received_by_minute,
	case when h.hour >= $4::timestamptz then h.refused_by_minute end as refused_by_minute,
	case when h.hour >= $4::timestamptz then h.acknowledged end as acknowledged
from shown s join feed_hour h on h.site_id = s.id
where h.hour >= $3::timestamptz and ($5::text[] is null or h.feed = any ($5))`,
};

/** Adds up the waiting messages that the processes told of in the last seconds. */
export const listFeedQueues: Statement = {
	name: 'list_feed_queues',
	text: `
with ${shownSites}
select q.site_id, q.feed, sum(q.waiting)::integer as waiting
from shown s join feed_queue q on q.site_id = s.id
where q.at > now() - interval '15 seconds'
group by q.site_id, q.feed`,
};

/** The same hour of the last four weeks before `$3` for the feeds `$2` of the sites `$1`: its minutes, and the hours with traffic before and after it. */
export const listFeedPauses: Statement = {
	name: 'list_feed_pauses',
	text: `
select f.site_id, f.feed, w.hour, h.received_by_minute as minutes,
	b.hour as before_hour, b.received_by_minute as before_minutes, a.hour as after_hour, a.received_by_minute as after_minutes
from unnest($1::uuid[], $2::text[]) as f (site_id, feed)
cross join (select $3::timestamptz - w * interval '7 days' as hour from generate_series(1, 4) w) w
left join feed_hour h on h.site_id = f.site_id and h.feed = f.feed and h.hour = w.hour
left join lateral (
	select o.hour, o.received_by_minute from feed_hour o
	where o.site_id = f.site_id and o.feed = f.feed and o.hour < w.hour order by o.hour desc limit 1
) b on true
left join lateral (
	select o.hour, o.received_by_minute from feed_hour o
	where o.site_id = f.site_id and o.feed = f.feed and o.hour > w.hour order by o.hour limit 1
) a on true`,
};

/** Messages of sites by hour since `$3`. */
export const listSiteHours: Statement = {
	name: 'list_site_hours',
	text: `
with ${shownSites}
select s.slug as site, h.hour, sum(h.received)::integer as received, sum(h.refused)::integer as refused
from shown s join feed_hour h on h.site_id = s.id
where h.hour >= $3::timestamptz
group by s.slug, h.hour
order by s.slug nulls last, h.hour`,
};

/** Reads when the record of feeds begins, for the sites that are shown. */
export const feedsSince: Statement = {
	name: 'feeds_since',
	text: `
with ${shownSites}
select min(first.hour) as since, (extract(epoch from min(first.hour)) * 1000)::bigint as since_ms
from shown s cross join lateral (select h.hour from feed_hour h where h.site_id = s.id order by h.site_id, h.hour limit 1) first`,
};

/** Messages of a client are found by `$2`, those of a key by `$3`: only one of them is given. */
const ofFeed = `m.site_id = $1 and (
		($2::uuid is not null and m.client_id = $2::uuid and m.client_id <> ${nilIdSql})
		or ($2::uuid is null and m.client_id = ${nilIdSql} and m.source = $3 and m.surface <> 'mllp'))`;

/** The latest messages of a feed, newest first. */
export const listFeedMessages: Statement = {
	name: 'list_feed_messages',
	text: `
select m.id, m.received_at, m.surface, m.message_type, m.control_id, m.outcome, m.failure_code
from message_log m
where ${ofFeed}
order by m.id desc
limit $4::integer`,
};

/** Refused messages of a feed by cause: at most `$4`, the newest. */
export const listFeedFailures: Statement = {
	name: 'list_feed_failures',
	text: `
select ${causeOf('m')} as cause, m.message_type, m.failure_code, ${shapeOf('m')} as failure, count(*)::integer as messages, max(m.received_at) as last_at
from (
	select m.* from message_log m
	where ${ofFeed} and m.outcome = 'refused' and m.outcome <> 'accepted'
	order by m.id desc
	limit $4::integer
) m
group by 1, 2, 3, 4
order by last_at desc`,
};

/** Lists changes of a client or a key, newest first, among the latest events of its site. A site's trail has far more reads than changes. */
export const listFeedChanges: Statement = {
	name: 'list_feed_changes',
	text: `
select id, recorded_at, actor, action, detail
from (select id, recorded_at, actor, action, subject, detail from audit_event where site_id = $1 order by id desc limit 50000) e
where subject = $2 and action ~ '^(client|key)[.]'
order by id desc
limit 20`,
};

/** Counts what sites received and refused in each minute since `$3`, in milliseconds since 1970. */
export const listMinutes: Statement = {
	name: 'list_minutes',
	text: `
with ${shownSites}
select s.slug as site, (extract(epoch from h.hour) * 1000 + (m.n - 1) * 60000)::bigint as at, sum(m.received)::integer as received,
	sum(m.refused)::integer as refused
from shown s
join feed_hour h on h.site_id = s.id and h.hour >= date_trunc('hour', $3::timestamptz, 'UTC')
cross join lateral unnest(h.received_by_minute, h.refused_by_minute) with ordinality as m (received, refused, n)
where m.received > 0
group by 1, 2`,
};
