import { otherNumberRank } from '#record/holdings/patient-identifiers.ts';
import type { Statement } from '../../statement.ts';

/** Lists the aliases of a site's assigning authorities. */
export const listAliases: Statement = {
	name: 'list_authority_aliases',
	text: `
select a.system, a.other, a.origin, a.since, a.by, jsonb_array_length(a.merged) as merged, a.ended_at, a.ended_by
from authority_alias a
where a.site_id = $1
order by a.system, a.other
limit 1000`,
};

export const readAlias: Statement = {
	name: 'read_authority_alias',
	text: `
select a.merged, a.ended_at
from authority_alias a
where a.site_id = $1 and a.system = $2 and a.other = $3`,
};

/**
 * Lists pairs of current patients who have one number under the authorities of `$2` and `$3`, as these are joined now: the patient of
 * `$2` first, at most `$4`. Numbers that a merge added count too.
 */
export const listJoinedPairs: Statement = {
	name: 'list_authority_pairs',
	text: `
select distinct a.patient_id as survivor, b.patient_id as prior
from patient_identifier a
join patient_identifier b on b.site_id = a.site_id and b.value = a.value and b.system = any (authority_systems($1, array[$3::text]))
	and b.patient_id <> a.patient_id and b.rank < ${otherNumberRank}
join patient p on p.site_id = a.site_id and p.id = a.patient_id and p.merged_into is null
join patient q on q.site_id = b.site_id and q.id = b.patient_id and q.merged_into is null
where a.site_id = $1 and a.system = any (authority_systems($1, array[$2::text])) and a.rank < ${otherNumberRank}
order by 1, 2
limit $4::integer`,
};

/** Moves the number of a site's aliases on, so that no worker keeps those that it has read. */
const moved = `with moved as (
	insert into site_turn as t (site_id, sequence, authority_version) values ($1, 0, 1)
	on conflict (site_id) do update set authority_version = t.authority_version + 1
	returning t.site_id
)`;

/**
 * Lets an alias of `$2` and `$3` hold, and moves the site's number of their state on in one statement: whoever has the site's turn keeps the
 * state that it has read.
 */
export const joinSystems: Statement = {
	name: 'join_authorities',
	text: `
${moved}
insert into authority_alias as a (site_id, system, other, origin, since, by)
select m.site_id, $2, $3, 'person', $4::timestamptz, $5 from moved m
on conflict (site_id, system, other) do update set origin = 'person', since = excluded.since, by = excluded.by, ended_at = null, ended_by = null`,
};

/** Ends an alias. It is not learned again. */
export const endAlias: Statement = {
	name: 'end_authority_alias',
	text: `
${moved}
update authority_alias a set ended_at = $4::timestamptz, ended_by = $5, merged = '[]'
from moved m
where a.site_id = m.site_id and a.system = $2 and a.other = $3`,
};

/** Notes a pair of patients that a join merged. */
export const noteMerged: Statement = {
	name: 'note_authority_merge',
	text: `
update authority_alias a set merged = a.merged || jsonb_build_array(jsonb_build_array($4::text, $5::text))
where a.site_id = $1 and a.system = $2 and a.other = $3`,
};
