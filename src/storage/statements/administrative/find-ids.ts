import type { Statement } from '../../statement.ts';
import { beginsWith, sitesOf } from './alike.ts';

/** This many of one kind are offered at most. */
const most = 6;

/** Finds what an index has under the beginnings `$2` at each site; `v.low` is the beginning. */
const indexed = (kind: string, page: string, title: string, detail: string) => `
(select '${kind}' as kind, s.slug as site, s.id as site_id, f.id, ${title} as title, ${detail} as detail
from s cross join unnest($2::text[]) as v (low) cross join lateral (${page} limit ${most}) f
limit ${most * 3})`;

/**
 * Lists what has an id that begins with one of `$2`, or a name of which `$3` is part, at the sites `$1` (null: at all): sites, clients, keys,
 * messages by control id, patients by number, studies by UID or accession number, and by the whole UID of a series or an instance. `$4` is an id
 * of ours, or null. Every part reads an index or a table that people fill by hand.
 */
export const findIds: Statement = {
	name: 'find_ids',
	text: `
with s as materialized (${sitesOf})
select distinct * from (
(select 'site' as kind, s.slug as site, s.id as site_id, s.slug as id, x.name as title, 'site' as detail
from s join site x on x.id = s.id where strpos(lower(s.slug), $3::text) = 1 or strpos(lower(x.name), $3) > 0 or s.id = $4::uuid limit ${most})
union all
(select 'client', s.slug, s.id, c.id::text, c.name, concat_ws(' ', 'client', c.sending_application, c.calling_ae)
from s join integration_client c on c.site_id = s.id
where strpos(lower(c.name), $3) > 0 or lower(c.calling_ae) = $3 or lower(c.sending_application) = $3 or c.id = $4::uuid limit ${most})
union all
(select 'key', s.slug, s.id, k.id, coalesce(nullif(k.label, ''), k.id), 'key ' || k.id
from s join api_key k on k.site_id = s.id where starts_with(lower(k.id), $3) or strpos(lower(k.label), $3) > 0 limit ${most})
union all
(select 'message', s.slug, s.id, m.id::text, m.message_type, concat_ws(' ', 'message', m.control_id)
from s join message_log m on m.site_id = s.id and m.id = $4::uuid)
union all
${indexed(
	'message',
	`select m.id::text as id, m.message_type, m.control_id from message_log m
	where m.site_id = s.id and m.control_id <> '' and ${beginsWith('m.control_id')} order by m.control_id`,
	'f.message_type',
	`'message ' || f.control_id`,
)}
union all
${indexed(
	'patient',
	`select i.patient_id::text as id, i.value from patient_identifier i
	where i.site_id = s.id and ${beginsWith('i.value')} order by i.value`,
	`''`,
	'f.value',
)}
union all
(select 'patient', s.slug, s.id, p.id::text, '', '' from s join patient p on p.site_id = s.id and p.id = $4::uuid)
union all
${indexed(
	'study',
	`select t.study_uid as id from imaging_study t where t.site_id = s.id and ${beginsWith('t.study_uid')} order by t.study_uid`,
	'f.id',
	`'study'`,
)}
union all
${indexed(
	'study',
	`select t.study_uid as id, t.accession_number from imaging_study t
	where t.site_id = s.id and t.accession_number is not null and ${beginsWith('t.accession_number')} order by t.accession_number`,
	'f.accession_number',
	`'study by accession number'`,
)}
union all
(select 'study', s.slug, s.id, r.study_uid, r.study_uid, 'study of this series'
from s join imaging_series r on r.site_id = s.id and r.series_uid = $3 limit ${most})
union all
(select 'study', s.slug, s.id, o.study_uid, o.study_uid, 'study of this instance'
from s join imaging_instance o on o.site_id = s.id and o.sop_instance_uid = $3 limit ${most})
) f
limit 100`,
};
