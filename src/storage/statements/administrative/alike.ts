import { nilIdSql, type Statement } from '../../statement.ts';

/** The sites `$1`, or all of them if that is null. */
export const sitesOf = 'select s.id, s.slug from site s where $1::uuid[] is null or s.id = any ($1)';

/**
 * The beginnings under which an index has what begins with a text in any case: as it is, in small letters and in capitals. An index that
 * sorts by a language keeps the three together.
 */
export function beginningsOf(text: string): string[] {
	return [...new Set([text, text.toLowerCase(), text.toUpperCase()])];
}

/** Tells by the index that a column begins with `v.low`, and by the value that it begins so in any case. */
export const beginsWith = (column: string) =>
	`${column} >= v.low and ${column} < v.low || chr(65535) and starts_with(lower(${column}), lower(v.low))`;

/** More types than standards have; a sender that makes up others has the rest of them unlisted. */
const typesMax = 500;

/** Lists the types of logged messages of the sites `$1` that begin with `$2` in any case. Each type of a site costs one lookup. */
export const typesLike: Statement = {
	name: 'types_like',
	text: `
select distinct t.message_type
from (${sitesOf}) s
cross join lateral (
	with recursive known (message_type, number) as (
		(select f.message_type, 1 from message_log f where f.site_id = s.id order by f.message_type limit 1)
		union all
		select (select f.message_type from message_log f where f.site_id = s.id and f.message_type > k.message_type order by f.message_type limit 1),
			k.number + 1
		from known k where k.message_type is not null and k.number < ${typesMax}
	)
	select k.message_type from known k where starts_with(lower(k.message_type), lower($2::text))
) t
limit ${typesMax}`,
};

/** Lists at most `$3` control ids of messages of the sites `$1` that begin with one of `$2`, in any case. */
export const controlsLike: Statement = {
	name: 'controls_like',
	text: `
select distinct c.control_id
from (${sitesOf}) s cross join unnest($2::text[]) as v (low)
cross join lateral (
	select m.control_id from message_log m
	where m.site_id = s.id and m.control_id <> '' and ${beginsWith('m.control_id')}
	order by m.control_id limit $3::integer
) c
limit $3::integer`,
};

/**
 * Lists at most `$3` values of a column that begin with one of `$2`, in any case, at the sites `$1`: the first of the index, shortest first. So a
 * value that is the whole text is among them. Each costs one lookup, however many rows have it.
 */
const valuesLike = (name: string, table: string, column: string): Statement => {
	const fits = `f.site_id = s.id and f.${column} is not null and ${beginsWith(`f.${column}`)}`;
	return {
		name,
		text: `
select k.value
from (${sitesOf}) s cross join unnest($2::text[]) as v (low)
cross join lateral (
	with recursive known (value, number) as (
		(select f.${column}, 1 from ${table} f where ${fits} order by f.${column} limit 1)
		union all
		select (select f.${column} from ${table} f where ${fits} and f.${column} > n.value order by f.${column} limit 1), n.number + 1
		from known n where n.value is not null and n.number < $3::integer
	)
	select n.value from known n where n.value is not null
) k
group by k.value
order by length(k.value), k.value
limit $3::integer`,
	};
};

/** The numbers of a kind that begin with a text. */
export const numbersLike = {
	study: valuesLike('studies_like', 'imaging_study', 'study_uid'),
	accession: valuesLike('accessions_like', 'imaging_study', 'accession_number'),
	reportAccession: valuesLike('report_accessions_like', 'diagnostic_report', 'accession_number'),
	reportFiller: valuesLike('report_fillers_like', 'diagnostic_report', 'filler_number'),
	messagePatient: valuesLike('message_patients_like', 'message_log', 'patient'),
	messageOtherPatient: valuesLike('message_other_patients_like', 'message_log', 'other_patient'),
	stepPatient: valuesLike('step_patients_like', 'mpps_session', 'patient_id'),
	stepAccession: valuesLike('step_accessions_like', 'mpps_session', 'accession_number'),
} as const satisfies Record<string, Statement>;

/** Lists at most `$3` numbers of patients that begin with one of `$2`, in any case, at the sites `$1`, each with its patient, shortest first. */
export const patientsLike: Statement = {
	name: 'patients_like',
	text: `
select distinct length(k.value) as length, k.value, s.id as site_id, k.patient_id
from (${sitesOf}) s cross join unnest($2::text[]) as v (low)
cross join lateral (
	select i.value, i.patient_id from patient_identifier i
	where i.site_id = s.id and ${beginsWith('i.value')}
	order by i.value limit $3::integer
) k
order by length(k.value), k.value, s.id, k.patient_id
limit $3::integer`,
};

/** A list goes through this many actors of a site at most; each costs one lookup. */
const actorsMax = 5000;

/**
 * Lists who acted at the sites `$1` (null: at all and at none), as far as `$2` is part of how the audit trail names them, of the owner or the
 * label of a key, or of the name of a client.
 */
export const actorsLike: Statement = {
	name: 'actors_like',
	text: `
with recursive acted (site_id, actor, number) as (
	select f.site_id, f.actor, 1
	from (select id from (${sitesOf}) s union all select ${nilIdSql} where $1::uuid[] is null) w (id)
	cross join lateral (select e.site_id, e.actor from audit_event e where e.site_id = w.id order by e.actor limit 1) f
	union all
	select a.site_id, (select e.actor from audit_event e where e.site_id = a.site_id and e.actor > a.actor order by e.actor limit 1), a.number + 1
	from acted a where a.actor is not null and a.number < ${actorsMax}
)
select a.site_id, a.actor
from acted a
left join api_key k on a.actor like 'key:%' and k.id = substr(a.actor, 5)
left join app_user u on u.id = k.owner_id
left join integration_client c on a.actor like 'client:%' and c.site_id = a.site_id and c.id::text = substr(a.actor, 8)
where strpos(lower(concat_ws(chr(10), a.actor, u.email, k.label, c.name)), lower($2::text)) > 0
limit 1000`,
};
