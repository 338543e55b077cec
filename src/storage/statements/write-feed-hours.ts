import type { Statement } from '../statement.ts';

/** Adds what was counted to the hours of feeds. A row has the id of its site, or the nil id for traffic of no site. */
export const addFeedHours: Statement = {
	name: 'add_feed_hours',
	text: `
insert into feed_hour as h (site_id, feed, hour, received, refused, last_at, received_by_minute, refused_by_minute, acknowledged)
select site_id, feed, hour, received, refused, last_at, by_minute::integer[], refused_by_minute::integer[], acknowledged::integer[]
from unnest($1::uuid[], $2::text[], $3::timestamptz[], $4::integer[], $5::integer[], $6::timestamptz[], $7::text[], $8::text[], $9::text[])
	with ordinality as r (site_id, feed, hour, received, refused, last_at, by_minute, refused_by_minute, acknowledged, place)
order by place
on conflict (site_id, feed, hour) do update set
	received = h.received + excluded.received,
	refused = h.refused + excluded.refused,
	last_at = greatest(h.last_at, excluded.last_at),
	received_by_minute = array_sum(h.received_by_minute, excluded.received_by_minute),
	refused_by_minute = array_sum(h.refused_by_minute, excluded.refused_by_minute),
	acknowledged = array_sum(h.acknowledged, excluded.acknowledged)`,
};

/** Says what waits in the mailboxes of a process now, and forgets what processes that have ended said. */
export const setFeedQueues: Statement = {
	name: 'set_feed_queues',
	text: `
with gone as (
	delete from feed_queue
	where site_id in (select id from site)
		and (at < now() - interval '1 minute'
			or (process = $3::uuid and (site_id, feed) not in (select site_id, feed from unnest($1::uuid[], $2::text[]) as r (site_id, feed))))
)
insert into feed_queue as q (site_id, feed, process, waiting, at)
select site_id, feed, $3::uuid, waiting, now() from unnest($1::uuid[], $2::text[], $4::integer[]) as r (site_id, feed, waiting)
on conflict (site_id, feed, process) do update set waiting = excluded.waiting, at = excluded.at`,
};
