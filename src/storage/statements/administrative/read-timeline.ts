import type { Statement } from '../../statement.ts';
import { dateTime } from '../render-study.ts';
import { jsonOf, wholeText } from '../stored-text.ts';

/**
 * The timeline of a patient, one statement for each kind, newest first, and each with the same values: `$1` the site, `$2` the patient,
 * `$3` to `$5` the position of the last entry of the previous page (time, kind, id) or null, `$6` and `$7` the period, `$8` the most rows.
 * Every statement reads the patient's rows by the index that begins with site and patient, sorts their times, and reads the content of a page.
 */
const isBefore = (kind: string, at: string, id: string) =>
	`($3::timestamptz is null or ${at} < $3 or (${at} = $3 and ('${kind}' collate "C", ${id}::text collate "C") < ($4::text, $5::text)))`;
const isWithin = (at: string) => `($6::timestamptz is null or ${at} >= $6) and ($7::timestamptz is null or ${at} < $7)`;

/** A position has milliseconds. What states no time stands where it was recorded. */
const momentOf = (stated: string, recorded: string) =>
	`date_trunc('milliseconds', case when isfinite(${stated}) then ${stated} else ${recorded} end)`;

function resources(kind: 'visit' | 'result' | 'report', table: string, start: string): Statement {
	return {
		name: `timeline_of_${table}`,
		text: `
select coalesce(r.given_id, r.id::text) as id, r.id as row_id, k.at, isfinite(r.${start}) is true as stated, r.version, r.source,
	${wholeText('r.resource')} as resource
from (
	select o.id, o.at from (
		select r.id, ${momentOf(`r.${start}`, 'r.last_updated')} as at from ${table} r where r.site_id = $1 and r.patient_id = $2
	) o
	where ${isBefore(kind, 'o.at', 'o.id')} and ${isWithin('o.at')}
	order by o.at desc, o.id::text collate "C" desc
	limit $8
) k
join ${table} r on r.site_id = $1 and r.id = k.id
order by k.at desc, k.id::text collate "C" desc`,
	};
}

export const timelineVisits = resources('visit', 'encounter', 'period_start');
export const timelineResults = resources('result', 'observation', 'effective_start');
export const timelineReports = resources('report', 'diagnostic_report', 'effective_start');

export const timelineStudies: Statement = {
	name: 'timeline_studies',
	text: `
select o.* from (
	select n.id, n.study_uid, ${dateTime('n.started', 'n.started_offset')} as started, n.description, n.accession_number, n.modalities,
		n.series_count, n.instance_count,
		isfinite(n.started_start) is true as stated, ${momentOf('n.started_start', 'n.created_at')} as at
	from imaging_study n where n.site_id = $1 and n.patient_id = $2
) o
where ${isBefore('study', 'o.at', 'o.id')} and ${isWithin('o.at')}
order by o.at desc, o.id::text collate "C" desc
limit $8`,
};

/** The numbers of the patient that no other patient has, unless it was merged into this one. */
const ownNumbers = `
	select distinct i.value from patient_identifier i
	where i.site_id = $1 and i.patient_id = $2 and not exists (
		select from patient_identifier o join patient p on p.site_id = o.site_id and p.id = o.patient_id
		where o.site_id = $1 and o.value = i.value and o.patient_id <> $2 and p.merged_into is distinct from $2)
	limit 100`;

/** A step states a date, or a date and time with or without an offset; without one it is taken as UTC, as everywhere. */
const stepStart = `(case
	when m.started ~ '^\\d{4}-\\d\\d-\\d\\dT[0-9:.]+(Z|[+-]\\d\\d:\\d\\d)$' then m.started::timestamptz
	when m.started ~ '^\\d{4}-\\d\\d-\\d\\d(T[0-9:.]+)?$' then m.started::timestamp at time zone 'UTC' end)`;

/** The steps of the patient's studies, and those that name a number of the patient and no study of another. */
export const timelineSteps: Statement = {
	name: 'timeline_steps',
	text: `
select o.* from (
	select m.id, m.status, m.modality, m.station_ae, m.station_name, m.started, m.accession_number, m.last_message_id as message,
		${momentOf(stepStart, 'm.created_at')} as at,
		(select n.id from imaging_study n where n.site_id = $1 and n.study_uid = m.study_uid and n.patient_id = $2) as study
	from (
		select m.id from imaging_study n join mpps_session m on m.site_id = $1 and m.study_uid = n.study_uid
		where n.site_id = $1 and n.patient_id = $2
		union
		select m.id from (${ownNumbers}) v join mpps_session m on m.site_id = $1 and m.patient_id = v.value
		where not exists (select from imaging_study n where n.site_id = $1 and n.study_uid = m.study_uid and n.patient_id <> $2)
	) s
	join mpps_session m on m.site_id = $1 and m.id = s.id
) o
where ${isBefore('step', 'o.at', 'o.id')} and ${isWithin('o.at')}
order by o.at desc, o.id::text collate "C" desc
limit $8`,
};

/**
 * The messages that name a number of the patient. Ids begin with their time, so each number's newest are read in the order of the index:
 * `$3` is the id below which a page begins, or null, `$4` and `$5` are the ids of the period, `$6` the most rows.
 */
export const timelineMessages: Statement = {
	name: 'timeline_messages',
	text: `
select distinct m.id, m.message_type, m.control_id, m.outcome, m.failure, m.surface, c.name as client
from (
	select n.id from (${ownNumbers}) v cross join lateral (
		(select m.id from message_log m where m.site_id = $1 and m.patient = v.value
			and ($3::uuid is null or m.id < $3) and ($4::uuid is null or m.id >= $4) and ($5::uuid is null or m.id < $5)
		order by m.id desc limit $6)
		union all
		(select m.id from message_log m where m.site_id = $1 and m.other_patient = v.value
			and ($3::uuid is null or m.id < $3) and ($4::uuid is null or m.id >= $4) and ($5::uuid is null or m.id < $5)
		order by m.id desc limit $6)
	) n
	order by n.id desc
	limit 2 * $6::integer
) k
join message_log m on m.site_id = $1 and m.id = k.id
left join integration_client c on c.site_id = m.site_id and c.id = m.client_id
order by m.id desc
limit $6`,
};

/** The numbers of the patient that other patients of the site have as well, so that messages and steps under them may be of either. */
export const sharedNumbers: Statement = {
	name: 'timeline_shared_numbers',
	text: `
select distinct i.value from patient_identifier i
join patient_identifier o on o.site_id = $1 and o.value = i.value and o.patient_id <> $2
join patient p on p.site_id = o.site_id and p.id = o.patient_id and p.merged_into is distinct from $2
where i.site_id = $1 and i.patient_id = $2
order by i.value
limit 100`,
};

/** A patient's history is searched this far back for changes of identity. */
const versionsMax = 500;
const facts = (resource: string) => `(
	select jsonb_object_agg(f.name, ${jsonOf(resource)} -> f.name)
	from unnest(array['identifier', 'name', 'birthDate', 'gender', 'link', 'active', 'deceasedBoolean', 'deceasedDateTime']) as f (name))`;

/** The versions of the patient that changed who it is. */
export const timelineIdentities: Statement = {
	name: 'timeline_identities',
	text: `
select d.version, d.at, d.source, d.facts, d.before, lpad(d.version::text, 10, '0') as id from (
	select v.version, date_trunc('milliseconds', v.last_updated) as at, v.source, v.facts, lag(v.facts) over (order by v.version) as before
	from (
		(select h.version, h.last_updated, h.source, ${facts('h.resource')} as facts from resource_history h
		where h.site_id = $1 and h.resource_type = 'Patient' and h.id = $2
		order by h.version desc limit ${versionsMax})
		union all
		select p.version, p.last_updated, p.source, ${facts('p.resource')} from patient p where p.site_id = $1 and p.id = $2
	) v
) d
where d.facts is distinct from d.before and (d.before is not null or d.version = 1)
	and ${isBefore('identity', 'd.at', `lpad(d.version::text, 10, '0')`)} and ${isWithin('d.at')}
order by d.at desc, d.version desc
limit $8`,
};
