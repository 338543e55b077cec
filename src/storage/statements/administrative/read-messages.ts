import { nilIdSql, type Statement } from '../../statement.ts';
import { clientSettings, keySettings, siteSettings } from './settings.ts';

export const showMessage: Statement = {
	name: 'show_message',
	text: `
select m.id, m.site_id, s.slug as site, m.received_at, m.committed_at, m.kind, m.surface, m.client_id, c.name as client,
	nullif(k.label, '') as key_label, m.source, m.message_type, m.control_id, m.outcome, m.failure_code, m.failure, m.flags, m.settings,
	m.changed, m.sequence, m.replay_of, m.patient, m.other_patient, m.bytes, m.ack,
	${siteSettings} || coalesce(${clientSettings}, ${keySettings}, '{}') as sender_settings, s.definitions_version::text as definitions
from site s
join lateral (select * from message_log l where l.site_id = s.id and l.id = $1 offset 0) m on true
left join integration_client c on c.site_id = m.site_id and c.id = m.client_id
left join api_key k on k.site_id = m.site_id and k.id = m.source and m.client_id = ${nilIdSql}`,
};

/** Values of the identifiers of the patients `$2` (row ids) of the site `$1`. */
export const patientValues: Statement = {
	name: 'patient_values',
	text: `
select distinct i.value
from unnest($2::uuid[]) as n (patient_id)
join patient_identifier i on i.site_id = $1::uuid and i.patient_id = n.patient_id
limit 1000`,
};

/** Lists replays and known repeats of a message, and the patients of its identifiers (`$3`). */
export const relatedMessages: Statement = {
	name: 'related_messages',
	text: `
(select 'replay' as kind, r.id, r.outcome, r.received_at as at
from message_log r
where r.site_id = $1 and r.replay_of = $2::uuid and r.replay_of is not null
order by r.id
limit 50)
union all
(select distinct 'patient', i.patient_id, '', null::timestamptz
from patient_identifier i
where i.site_id = $1 and i.value = any ($3::text[])
limit 10)`,
};

/** Finds the newest accepted message after `$2` about a patient with one of the identifiers `$3`. A replay of that message is none. */
export const newerMessage: Statement = {
	name: 'newer_message',
	text: `
select m.id, m.message_type, m.received_at
from message_log m
where m.site_id = $1 and m.patient = any ($3::text[]) and m.id > $2::uuid and m.outcome = 'accepted' and m.replay_of is distinct from $2::uuid
order by m.id desc
limit 1`,
};
