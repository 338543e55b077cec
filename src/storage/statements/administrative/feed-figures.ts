import type { Statement } from '../../statement.ts';

/** The active sites with the time of their latest message, in seconds since 1970; null for those that have none. */
export const listLastHeard: Statement = {
	name: 'list_last_heard',
	text: `
select s.id, s.slug, (
	select extract(epoch from max(h.last_at))
	from feed_hour h
	where h.site_id = s.id and h.hour = (select o.hour from feed_hour o where o.site_id = s.id order by o.site_id, o.hour desc limit 1)
)
from site s
where s.active`,
};

/** The `$1` oldest clients and keys that may send, with the time of their latest message, in seconds since 1970. */
export const listCountedFeeds: Statement = {
	name: 'list_counted_feeds',
	text: `
select f.site_id, f.slug, f.feed, f.name,
	(select extract(epoch from h.last_at) from feed_hour h where h.site_id = f.site_id and h.feed = f.feed order by h.hour desc limit 1)
from (
	select c.site_id, s.slug, c.id::text as feed, c.name, c.created_at
	from site s join integration_client c on c.site_id = s.id
	where s.active and c.active
	union all
	select k.site_id, s.slug, k.id, coalesce(nullif(k.label, ''), k.id), k.created_at
	from site s join api_key k on k.site_id = s.id
	where s.active and k.revoked_at is null and (k.expires_at is null or k.expires_at > now())
	order by created_at, feed
	limit $1::integer
) f`,
};
