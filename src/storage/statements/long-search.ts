import type { Statement } from '../statement.ts';

/**
 * Keeps a search for `$5` seconds. One that is kept for half of them already is not written again. Deletes the expired searches of the site,
 * and those that expire first beyond `$6` others.
 */
export const keepLongSearch: Statement = {
	name: 'keep_long_search',
	text: `
with gone as (
	delete from long_search where site_id = $1 and id <> $2::uuid and (expires_at <= now() or id in (
		select id from long_search where site_id = $1 and id <> $2::uuid order by expires_at desc offset $6::integer
	))
)
insert into long_search (site_id, id, type, parameters, expires_at)
values ($1, $2::uuid, $3::text, $4::text, now() + make_interval(secs => $5::float8))
on conflict (site_id, id) do update set expires_at = excluded.expires_at
where long_search.expires_at < now() + make_interval(secs => $5::float8 / 2)`,
};

export const readLongSearch: Statement = {
	name: 'read_long_search',
	text: 'select parameters from long_search where site_id = $1 and id = $2::uuid and type = $3::text and expires_at > now()',
};
