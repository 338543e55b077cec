import type { Statement } from '../../statement.ts';

/** The columns of an event in the form in which its digest takes them. */
export const linkedColumns = `e.id, (extract(epoch from e.recorded_at) * 1000000)::bigint as at, e.site_id, e.actor, e.action, e.subject,
	e.source, e.detail::text as detail, array_to_json(e.patients)::text as patients, array_to_json(e.studies)::text as studies`;

/** The first batch begins its chain. */
const begun = `begun as (
	insert into audit_chain (id, started_at) select $1::uuid, $4::timestamptz where $2::bigint = 0
)`;

/** @param events the number of events, which a batch that must not be written has below zero */
const insertBatch = (events = '$5::integer') => `
insert into audit_batch (chain_id, sequence, id, recorded_at, events, first_id, last_id, previous, digest, notes)
select $1::uuid, $2::bigint, $3::uuid, $4::timestamptz, ${events}, $6::uuid, $7::uuid, decode($8, 'hex'), decode($9, 'hex'), $10`;

/** Writes a batch with its events. */
export const writeAuditBatch: Statement = {
	name: 'write_audit_batch',
	text: `
with written as (
	insert into audit_event (id, recorded_at, site_id, actor, action, subject, source, detail, patients, studies, batch)
	select k.id, k.recorded_at, k.site_id, k.actor, k.action, k.subject, k.source, k.detail::jsonb, k.patients::uuid[], k.studies::text[],
		$3::uuid
	from unnest($11::uuid[], $12::timestamptz[], $13::uuid[], $14::text[], $15::text[], $16::text[], $17::text[], $18::text[], $19::text[],
		$20::text[]) as k (id, recorded_at, site_id, actor, action, subject, source, detail, patients, studies)
), ${begun}${insertBatch()}`,
};

/** Reads events of all sites that no batch links yet: each was written in the transaction of the change that it describes. */
export const readUnlinkedEvents: Statement = {
	name: 'read_unlinked_audit_events',
	text: `select ${linkedColumns} from audit_event e where e.batch is null order by e.id limit $1`,
};

/**
 * Links events by a batch. If another process has linked one of them in the meantime, the number of events is one that the table refuses,
 * and the statement changes nothing.
 */
export const linkEvents: Statement = {
	name: 'link_audit_events',
	text: `
with linked as (
	update audit_event e set batch = $3::uuid
	from unnest($11::uuid[], $12::uuid[]) as k (site_id, id)
	where e.site_id = k.site_id and e.id = k.id and e.batch is null
	returning e.id
), ${begun}${insertBatch('case when count(*) = $5::integer then $5::integer else -1 end')}
from linked`,
};

/** Tells whether a batch was committed whose writer did not hear of it. */
export const readBatchDigest: Statement = {
	name: 'read_audit_batch_digest',
	text: `select encode(digest, 'hex') as digest from audit_batch where chain_id = $1 and sequence = $2`,
};

/** Reads the ends of the newest other chains. */
export const readChainEnds: Statement = {
	name: 'read_audit_chain_ends',
	text: `
select c.id, b.sequence, encode(b.digest, 'hex') as digest
from audit_chain c
cross join lateral (select h.sequence, h.digest from audit_batch h where h.chain_id = c.id order by h.sequence desc limit 1) b
where c.id <> $1
order by c.id desc
limit $2`,
};

/** Reads which patients the studies of events have. */
export const readPatientsOfStudies: Statement = {
	name: 'read_patients_of_audited_studies',
	text: `
select s.site_id, s.study_uid, s.patient_id
from unnest($1::uuid[], $2::text[]) as k (site_id, study_uid)
join imaging_study s on s.site_id = k.site_id and s.study_uid = k.study_uid
where s.patient_id is not null`,
};
