import type { Statement } from '../../statement.ts';

/** Adds definitions to a site. One of the same kind, URL and version is replaced. */
export const insertDefinitions: Statement = {
	name: 'insert_definitions',
	text: `
insert into site_definition as d (site_id, id, kind, url, version, name, type, package, content, created_at)
select $1, n.id, n.kind, n.url, n.version, n.name, n.type, $9, n.content, $10::timestamptz
from unnest($2::uuid[], $3::text[], $4::text[], $5::text[], $6::text[], $7::text[], $8::text[]) as n (id, kind, url, version, name, type, content)
on conflict (site_id, kind, url, version) do update
set id = excluded.id, name = excluded.name, type = excluded.type, package = excluded.package, content = excluded.content,
	created_at = excluded.created_at`,
};

/** Removes definitions of a site by their ids. */
export const removeDefinitions: Statement = {
	name: 'remove_definitions',
	text: 'delete from site_definition d where d.site_id = $1 and d.id = any ($2::uuid[])',
};

/** Moves the number of a site's definitions on, so that nobody keeps those that it has read. */
export const advanceDefinitions: Statement = {
	name: 'advance_definitions',
	text: 'update site s set definitions_version = s.definitions_version + 1 where s.id = $1',
};

/** Lists definitions of sites without their content; null stands for all sites. */
export const listDefinitions: Statement = {
	name: 'list_definitions',
	text: `
select d.id, s.slug as site, d.kind, d.url, d.version, d.name, d.type, d.package, octet_length(d.content) as bytes, d.created_at
from site_definition d
join site s on s.id = d.site_id
where ($1::uuid[] is null or d.site_id = any ($1)) and ($2::text is null or d.kind = $2)
order by s.slug, d.kind desc, d.url, d.version
limit $3::integer`,
};

/** Finds definitions by id, URL (`url|version` too) or package (`name#version` too); without a site by id only. */
export const findDefinitions: Statement = {
	name: 'find_definitions',
	text: `
select d.id, s.slug as site, d.kind, d.url, d.version, d.name, d.type, d.package, octet_length(d.content) as bytes, d.created_at,
	d.content, d.site_id
from site_definition d
join site s on s.id = d.site_id
where (d.id::text = $1 or (s.slug = $2::text and (
	$1 in (d.url, d.url || '|' || d.version) or (d.package <> '' and $1 in (d.package, split_part(d.package, '#', 1))))))
order by d.kind desc, d.url, d.version`,
};

/** Counts the definitions of a site, and their bytes, apart from those that `insertDefinitions` would replace. */
export const countDefinitions: Statement = {
	name: 'count_definitions',
	text: `
select count(*)::integer as count, coalesce(sum(octet_length(d.content)), 0)::bigint::text as bytes
from site_definition d
where d.site_id = $1 and not exists (
	select from unnest($2::text[], $3::text[], $4::text[]) as n (kind, url, version)
	where n.kind = d.kind and n.url = d.url and n.version = d.version)`,
};
