import type { Statement } from '../statement.ts';

const underWay = `state in ('receiving', 'waiting', 'running')`;

/** An access token stands in the place of a key by the name of its client, which begins with `token:`. */
const actor = (key: string) => `case when ${key}::text like 'token:%' then ${key}::text else 'key:' || ${key}::text end`;

/** What an audit event says of a request: its URL, and how many patients it names in its body. */
const asked = `jsonb_strip_nulls(jsonb_build_object('request', $7::text, 'patients', jsonb_array_length($8::jsonb -> 'scope' -> 'patients')))`;

/**
 * Notes a job and its audit event, unless the site has `$9` under way or `$10` in all, or the key `$13` under way. Returns what the site has of
 * both, whether it was noted, and what the key has under way. Of requests to several nodes at the same time one is counted after the other.
 */
export const insertJob: Statement = {
	name: 'insert_bulk_job',
	text: `
with held as (
	select under_way, of_key, kept from bulk_jobs_held($1::uuid, $6::text)
), noted as (
	insert into bulk_job (site_id, id, kind, state, node_id, key_id, request, parameters)
	select $1, $2::uuid, $3::text, $4::text, $5::uuid, $6::text, $7::text, $8::jsonb from held
	where under_way < $9::integer and kept < $10::integer and of_key < $13::integer
	returning id
), audited as (
	insert into audit_event (id, recorded_at, site_id, actor, action, subject, source, detail)
	select $11::uuid, now(), $1, ${actor('$6')}, 'bulk.' || $3::text, noted.id::text, $12::text, ${asked} from noted
)
select under_way, kept, exists (select from noted), of_key from held`,
};

export const readJob: Statement = {
	name: 'read_bulk_job',
	text: `
select kind, state, node_id, key_id, request, parameters, position, progress, result, failure, (extract(epoch from finished_at) * 1000)::bigint
from bulk_job
where site_id = $1 and id = $2`,
};

/** Notes that a job goes on. Returns nothing when it was cancelled, or when another node has given it up. */
export const advanceJob: Statement = {
	name: 'advance_bulk_job',
	text: `
update bulk_job set state = $3, progress = $4, seen_at = now()
where site_id = $1 and id = $2 and ${underWay}
returning id`,
};

/** Returns the progress of an import; nothing when it must no longer be carried out. */
export const readPosition: Statement = {
	name: 'read_bulk_position',
	text: `select position from bulk_job where site_id = $1 and id = $2 and ${underWay}`,
};

/** Belongs to the transaction of an import's chunk, so that the job's report on its lines is true whatever happens to its node. */
export const settleLines: Statement = {
	name: 'settle_bulk_lines',
	text: `
update bulk_job set position = position + $3::integer, seen_at = now()
where site_id = $1 and id = $2 and ${underWay}
returning id`,
};

export const finishJob: Statement = {
	name: 'finish_bulk_job',
	text: `
update bulk_job set state = $3, progress = $4, result = $5::jsonb, failure = $6, seen_at = now(), finished_at = now()
where site_id = $1 and id = $2 and ${underWay}
returning id`,
};

export const deleteJob: Statement = {
	name: 'delete_bulk_job',
	text: `delete from bulk_job where site_id = $1 and id = $2 returning id`,
};

export const auditJob: Statement = {
	name: 'audit_bulk_job',
	text: `
insert into audit_event (id, recorded_at, site_id, actor, action, subject, source, detail)
values ($2, now(), $1, ${actor('$3')}, $4, $5, $6, '{}')`,
};
