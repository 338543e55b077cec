import { siteAuthorities } from '#record/holdings/site-authorities.ts';
import { plainArray, type Statement, textArray } from '../statement.ts';
import type { StoredHolding } from '../stored-holding.ts';

/** Writes aliases that senders stated, or that do not hold any more, and moves the site's number of their state on. */
const writeAliases: Statement = {
	name: 'write_authority_aliases',
	text: `
with written as (
	insert into authority_alias as a (site_id, system, other, origin, since, by, ended_at, ended_by)
	select distinct on (k.site_id, k.system, k.other) k.site_id, k.system, k.other, k.origin, $7::timestamptz, $8::text,
		case when not k.holds then $7::timestamptz end, case when not k.holds then $8::text end
	from unnest($1::uuid[], $2::text[], $3::text[], $4::text[], $5::boolean[], $6::integer[]) as k (site_id, system, other, origin, holds, place)
	order by k.site_id, k.system, k.other, k.place desc
	on conflict (site_id, system, other) do update set ended_at = excluded.ended_at, ended_by = excluded.ended_by
	returning site_id
)
update site_turn t set authority_version = t.authority_version + 1
where t.site_id in (select w.site_id from written w)`,
};

/** Writes what a batch learns of assigning authorities. They are read when their version has changed (`storage/authorities`). */
export function storedSiteAuthorities(): StoredHolding {
	return {
		write(writing) {
			const changed = writing.of(siteAuthorities, (held, siteId) => held.changed.map((alias) => ({ ...alias, siteId })));
			if (changed.length === 0) return;
			writing.send(writeAliases, [
				plainArray(changed.map(({ siteId }) => siteId)),
				textArray(changed.map(({ system }) => system)),
				textArray(changed.map(({ other }) => other)),
				textArray(changed.map(({ origin }) => origin)),
				plainArray(changed.map(({ holds }) => holds)),
				plainArray(changed.map((_alias, place) => place)),
				writing.lastUpdated,
				writing.source,
			]);
		},
	};
}
