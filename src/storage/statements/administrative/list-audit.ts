import { nilIdSql, type Statement } from '../../statement.ts';
import { sitesOf } from './alike.ts';

const columns = 'id, recorded_at, site_id, actor, action, subject, source, detail, patients, studies';

export const associationAction = 'dicom.association';

/**
 * Matches the actions that change nothing: interfaces read and write, callers are turned away, people sign in and look at things. All other events
 * are changes. The index audit_event_changes has this text. An action that comes later and changes nothing is told by a condition beside it, until the
 * index is made anew.
 */
const notChanges =
	'^(callers|dicom|dicomweb|dimse|fhir|mllp|token)\\.|^bulk\\.(export|import)$' +
	'|\\.(download|echo|match|picture|read|retrieve|search|send|sign-in|sign-out|test|view|viewer|[a-z-]*(failed|preview|refused))$';

/** A list of the trail shows this part of it; undefined is all of it. */
export type TrailPart = 'associations' | 'changes' | undefined;

/** Each part has an index of its own, which the planner takes only if it reads the condition. */
export const conditionsOfPart: Readonly<Record<NonNullable<TrailPart>, string>> = {
	associations: `e.action = '${associationAction}'`,
	changes: `e.action !~ '${notChanges}'`,
};

/** Associations by the beginning of an AE title of either side, in any case, and by how they ended. A parameter that is null does not apply. */
export const associationFits = (ae: string, outcome: string) => `
	(${ae}::text is null or starts_with(lower(e.subject), lower(${ae})) or starts_with(lower(e.detail ->> 'called_ae'), lower(${ae})))
	and case ${outcome}::text
		when 'complete' then e.detail ->> 'end' = 'released' and e.detail ->> 'failed' = '0'
		when 'failed' then e.detail ->> 'failed' <> '0'
		when 'broken-off' then e.detail ->> 'end' <> 'released'
		else true
	end`;

const filtersOf = (part: TrailPart) => `
	${part === undefined ? '' : `${conditionsOfPart[part]} and `}($3::text is null or e.action = $3 or starts_with(e.action, $3 || '.'))
	and ($4::timestamptz is null or e.recorded_at >= $4)
	and ($5::timestamptz is null or e.recorded_at < $5)
	and ($6::uuid is null or e.id < $6)
	and ($8::uuid is null or e.patients && array(select id from them))
	and ($9::text is null or $9 = any (e.studies))
	and ($10::uuid is null or e.id >= $10) and ($11::uuid is null or e.id < $11)
	and ${associationFits('$12', '$13')}`;

/** A patient, and all whom merges have replaced by it: who read them has read what belongs to this patient now. */
export const them = (patient: string) => `
with recursive them as (
	select ${patient}::uuid as id
	union
	select p.id from them join patient p on p.merged_into = them.id join site s on s.id = p.site_id
)`;

/** Selects the ids, as people and clients know them, of the first patients whom an event names. */
export const namedPatients = (event: string, max: number) => `array(
		select coalesce(p.given_id, k.id::text)
		from unnest(${event}.patients[1:${max}]) as k (id)
		left join patient p on p.site_id = ${event}.site_id and p.id = k.id
	)`;

/** The name of what an event is about, where it has one that is no patient's; what was removed has none any more. */
const subjectName = `case when a.subject ~ '^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$' then case split_part(a.action, '.', 1)
		when 'client' then (select c.name from integration_client c where c.id = a.subject::uuid and c.site_id = a.site_id)
		when 'issuer' then (select nullif(i.label, '') from token_issuer i where i.id = a.subject::uuid and i.site_id = a.site_id)
		when 'ae' then (select r.title from remote_ae r where r.id = a.subject::uuid and r.site_id = a.site_id)
		when 'notification' then (select n.target from notification n where n.id = a.subject::uuid)
	end else case split_part(a.action, '.', 1)
		when 'site' then (select s.name from site s where s.slug = a.subject)
		when 'key' then (select nullif(k.label, '') from api_key k where k.id = a.subject and k.site_id = a.site_id)
	end end`;

/** The sites of a parameter, or all sites and none if it is null: indexes of a part of the trail begin with the site. */
export const placesOf = (sites: string) =>
	`select s.id from (${sitesOf.replaceAll('$1', sites)}) s union all select ${nilIdSql} where ${sites}::uuid[] is null`;

/** An event of a flood may name thousands. */
const patientsShown = 100;

/**
 * Lists the audit trail, newest first: of the sites `$1`, or of all sites and none if that is null. A filter that is null does not apply;
 * `$3` is an action or its noun, `$8` the row id of a patient, `$10` and `$11` bound the ids, `$12` and `$13` are those of `associationFits`. If `$2`
 * names who acted, `$1` has the site of each.
 */
export function listAuditEvents({ byActor, part }: { byActor: boolean; part: TrailPart }): Pick<Statement, 'text'> {
	const filters = filtersOf(part);
	const page = (condition: string) => `select ${columns} from audit_event e where ${condition} and ${filters} order by e.id desc limit $7`;
	const found = byActor
		? `select a.* from unnest($1::uuid[], $2::text[]) as w (id, actor) cross join lateral (${page('e.site_id = w.id and e.actor = w.actor')}) a`
		: part !== undefined
			? `select a.* from (${placesOf('$1')}) w (id) cross join lateral (${page('e.site_id = w.id and $2::text[] is null')}) a`
			: `(${page('$1::uuid[] is null and $2::text[] is null')})
	union all
	(select a.* from unnest($1::uuid[]) as w (id) cross join lateral (${page('e.site_id = w.id')}) a)`;
	return {
		text: `${them('$8')}
select a.id, a.recorded_at, s.slug as site, a.actor,
	case split_part(a.actor, ':', 1)
		when 'key' then (select u.email from api_key k join app_user u on u.id = k.owner_id where k.id = substr(a.actor, 5))
		when 'client' then (select c.name from integration_client c where c.id::text = substr(a.actor, 8))
	end as holder,
	a.action, a.subject, ${subjectName} as subject_name, a.source, a.detail,
	${namedPatients('a', patientsShown)} as patients,
	coalesce(cardinality(a.patients), 0) as patient_count,
	coalesce(a.studies[1:${patientsShown}], '{}') as studies
from (
	${found}
) a
left join site s on s.id = a.site_id
order by a.id desc
limit $7`,
	};
}
