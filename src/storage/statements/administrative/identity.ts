import { otherNumberRank } from '#record/holdings/patient-identifiers.ts';
import type { TableShape } from '#record/table-shape.ts';
import type { Statement } from '../../statement.ts';

/** Lists messages of a site that may have put one patient's data under another's number, newest first, without those already judged. */
export const listOverlays: Statement = {
	name: 'list_overlays',
	text: `
select m.id, m.received_at, m.message_type, m.control_id, m.source, c.name as client, m.changed
from message_log m
left join integration_client c on c.site_id = m.site_id and c.id = m.client_id
where m.site_id = $1 and m.flags @> '[{"code":"possible-overlay"}]' and ($2::uuid is null or m.id < $2)
	and not exists (select from identity_dismissal d where d.site_id = m.site_id and d.first_id = m.id and d.second_id = m.id)
order by m.id desc
limit $3::integer`,
};

/**
 * Lists current patients with the same name, birth date and gender among the next `$3` by birth date after `$2`. Each row is a group.
 * `walked_to` is the last birth date when the walk ended early; that date may be incomplete.
 */
export const listAlike: Statement = {
	name: 'list_alike_patients',
	text: `
with walked as (
	select p.id, p.birth_date, md5(p.name) as name, p.gender
	from patient p
	where p.site_id = $1 and p.birth_date > coalesce($2::date, '-infinity') and p.merged_into is null and p.active and p.name <> ''
	order by p.birth_date, p.id
	limit $3::integer
), bounds as (
	select count(*) >= $3::integer as is_cut, min(birth_date) as first_date, max(birth_date) as last_date from walked
)
select w.birth_date::text as key, array_agg(w.id order by w.id) as ids
from walked w, bounds b
where not b.is_cut or w.birth_date < b.last_date or b.first_date = b.last_date
group by w.birth_date, w.name, w.gender
having count(*) > 1
union all
select b.last_date::text, null from bounds b where b.is_cut and b.first_date = b.last_date
union all
select (select max(w.birth_date)::text from walked w where w.birth_date < b.last_date), null from bounds b
where b.is_cut and b.first_date < b.last_date
order by 1`,
};

/**
 * Lists current patients that share a number under one authority, or its value under different authorities and also their name or their
 * birth date. It walks by value in the same way. Accounts and the like do not count under one authority.
 */
export const listSharing: Statement = {
	name: 'list_sharing_patients',
	text: `
with walked as (
	select i.value, i.system, i.patient_id from patient_identifier i
	where i.site_id = $1 and i.value > coalesce($2::text, '') and not i.old
	order by i.value, i.system, i.patient_id
	limit $3::integer
), bounds as (
	select count(*) >= $3::integer as is_cut, min(value) as first_value, max(value) as last_value from walked
), shared as (
	select w.value, array_agg(distinct w.patient_id) as ids
	from walked w, bounds b
	where not b.is_cut or w.value < b.last_value or b.first_value = b.last_value
	group by w.value
	having count(distinct w.patient_id) > 1
)
select h.value as key, array_agg(distinct one.id) as ids
from shared h
join patient one on one.site_id = $1 and one.id = any (h.ids) and one.merged_into is null and one.active
join patient two on two.site_id = $1 and two.id = any (h.ids) and two.merged_into is null and two.active
	and two.id <> one.id and (two.birth_date = one.birth_date or (two.name = one.name and one.name <> '') or (
		select true from patient_identifier a
		join patient_identifier b on b.site_id = a.site_id and b.value = a.value and b.system = a.system
		where a.site_id = $1 and a.value = h.value and a.patient_id = one.id and b.patient_id = two.id
			and not a.old and not b.old and a.rank < ${otherNumberRank} and b.rank < ${otherNumberRank}
		limit 1))
group by h.value
union all
select b.last_value, null from bounds b where b.is_cut and b.first_value = b.last_value
union all
select (select max(w.value) from walked w where w.value < b.last_value), null from bounds b where b.is_cut and b.first_value < b.last_value
order by 1`,
};

/** Lists pairs among the given patients that were judged to be different. */
export const listDismissed: Statement = {
	name: 'list_dismissed_pairs',
	text: `
select d.first_id, d.second_id
from identity_dismissal d
where d.site_id = $1 and d.first_id = any ($2::uuid[]) and d.second_id = any ($2::uuid[])`,
};

/** Inserts pairs; the same id twice stands for a message. */
export const insertDismissals: Statement = {
	name: 'insert_identity_dismissals',
	text: `
insert into identity_dismissal (site_id, first_id, second_id, dismissed_at, dismissed_by)
select $1, k.first_id, k.second_id, $4::timestamptz, $5
from unnest($2::uuid[], $3::uuid[]) as k (first_id, second_id)
on conflict do nothing`,
};

/** Counts the rows that a merge of `$2` moves, by resource type. */
export function countReferring(shapes: readonly TableShape[]): Statement {
	return { name: 'count_referring_rows', text: counts(shapes, 'r.site_id = $1 and r.patient_id = $2::uuid') };
}

/** Counts the rows that separating `$3` from `$2` returns: those recorded under it, or under a patient that was merged into it before. */
export function countRecorded(shapes: readonly TableShape[]): Statement {
	const condition = 'r.site_id = $1 and r.patient_id = $2::uuid and r.recorded_patient_id in (select id from own)';
	return {
		name: 'count_recorded_rows',
		text: `
with recursive own as (
	select $3::uuid as id
	union
	select p.id from own join patient p on p.site_id = $1 and p.merged_into = own.id
)
${counts(shapes, condition)}`,
	};
}

function counts(shapes: readonly TableShape[], condition: string): string {
	const moved = shapes.filter(({ compartment }) => compartment === 'patient');
	const own = moved
		.filter(({ isShared }) => !isShared)
		.map(({ resourceType, keptIn, renderedFrom }) => {
			const rendered = renderedFrom === undefined ? '' : ` + (select count(*) from ${renderedFrom} r where ${condition})::integer`;
			return `select '${resourceType}' as type, count(*)::integer${rendered} as count from ${keptIn} r where ${condition}`;
		});
	const shared = [...new Set(moved.filter(({ isShared }) => isShared).map(({ keptIn }) => keptIn))].map(
		(table) =>
			`select r.resource_type as type, count(*)::integer as count from ${table} r where ${condition} and not r.deleted group by r.resource_type`,
	);
	return [...own, ...shared].join('\nunion all\n');
}
