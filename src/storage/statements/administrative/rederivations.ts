import { nilIdSql, type Statement } from '../../statement.ts';
import { clientSettings, keySettings, siteSettings } from './settings.ts';

/** Messages of senders for whom the zone holds: those of a client or key, or those of a site who have no zone of their own. */
const isOfSender = `case $4
	when 'client' then m.client_id::text = $5
	when 'key' then m.client_id = ${nilIdSql} and m.source = $5
	else c.settings ->> 'time_zone' is null and k.settings ->> 'time_zone' is null
end`;

const senders = `
left join integration_client c on c.site_id = m.site_id and c.id = m.client_id
left join api_key k on k.site_id = m.site_id and k.id = m.source and m.client_id = ${nilIdSql}`;

/** `$6`: only messages of which the log says by which zone they were read. */
const isRead = (m: string) => `
	${m}.outcome = 'accepted' and (${m}.kind in ('hl7v2', 'hl7v3') or (${m}.kind = 'mpps' and ${m}.settings ->> 'time_zone' is not null))
	and ${m}.settings ->> 'time_zone' is distinct from $3
	and (not $6::boolean or ${m}.settings ->> 'time_zone' is not null)`;

/** Looks at the messages of a site behind `$2` and before `$8`, in their order: whether the zone `$3` reads them anew, and how long they are. */
export const scanMessages: Statement = {
	name: 'scan_messages',
	text: `
select m.id, octet_length(m.bytes) as bytes, ${isRead('m')} and ${isOfSender} as is_read
from (select * from message_log where site_id = $1 and id > $2::uuid and id < $8::uuid order by id limit $7::integer) m ${senders}
order by m.id`,
};

export const countMessages: Statement = {
	name: 'count_messages_to_rederive',
	text: `
select count(*)::integer as count from message_log m ${senders}
where m.site_id = $1 and m.id > $2::uuid and ${isRead('m')} and ${isOfSender}`,
};

export const readMessagesToRederive: Statement = {
	name: 'read_messages_to_rederive',
	text: `
select m.id, m.kind, m.settings, m.flags, m.changed, m.bytes,
	${siteSettings} || coalesce(${clientSettings}, ${keySettings}, '{}') as sender_settings
from message_log m join site s on s.id = m.site_id ${senders}
where m.site_id = $1 and m.id = any ($2::uuid[])
order by m.id`,
};

/** Studies behind `$2` that have a time of day, each with its series and the sender of its first instance. */
export const scanStudies: Statement = {
	name: 'scan_studies',
	text: `
select t.id, t.study_uid, t.started, t.started_offset as offset, t.started_zone as zone, i.calling_ae, i.source,
	coalesce((select json_agg(json_build_object('seriesUid', r.series_uid, 'started', r.started, 'offset', r.started_offset))
		from imaging_series r
		where r.site_id = t.site_id and r.study_uid = t.study_uid and r.started like '%T%' and r.started_offset is not null), '[]') as series
from imaging_study t
left join lateral (
	select o.calling_ae, o.source from imaging_instance o
	where o.site_id = t.site_id and o.study_uid = t.study_uid
	order by o.stored_at, o.sop_instance_uid limit 1) i on true
where t.site_id = $1 and t.study_uid > $2 and t.started like '%T%'
order by t.study_uid limit $3::integer`,
};

/** Senders of a site that have a zone of their own. */
export const sendersWithZone: Statement = {
	name: 'senders_with_zone',
	text: `
select id::text from integration_client where site_id = $1 and settings ->> 'time_zone' is not null
union all
select id from api_key where site_id = $1 and settings ->> 'time_zone' is not null`,
};

/** Counts the resources that a run has met, and forgets them. */
export const countMet: Statement = {
	name: 'count_rederived_resources',
	text: `
with met as (delete from rederived_resource where site_id = $1 and run_id = $2 returning resource_type, is_changed),
	counted as (select resource_type, is_changed, count(*) as count from met group by resource_type, is_changed)
update replay_run set progress = progress || jsonb_build_object(
	'changed', coalesce((select jsonb_object_agg(resource_type, count) from counted where is_changed), '{}'),
	'stayed', coalesce((select jsonb_object_agg(resource_type, count) from counted where not is_changed), '{}'))
where site_id = $1 and id = $2
returning progress`,
};
