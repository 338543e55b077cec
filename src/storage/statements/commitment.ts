import type { Statement } from '../statement.ts';

/**
 * Another node may take the request up after `$9` milliseconds. The same request again is reported again; another list under the same
 * transaction UID is noted as a duplicate.
 */
export const noteCommitment: Statement = {
	name: 'note_commitment',
	text: `
with same as (
	select id, sop_class_uids = $7::text[] and sop_instance_uids = $8::text[] as alike
	from commitment_request
	where site_id = $1::uuid and calling_ae = $4 and transaction_uid = $3
),
again as (
	update commitment_request r
	set state = 'waiting', attempts = 0, received_at = now(), due_at = now() + make_interval(secs => $9::float8 / 1000),
		called_ae = $5, source = $6, failure = null, settled_at = null
	from same
	where r.site_id = $1::uuid and r.id = same.id and same.alike
	returning r.id, r.is_duplicate
),
added as (
	insert into commitment_request (site_id, id, transaction_uid, is_duplicate, calling_ae, called_ae, source,
		sop_class_uids, sop_instance_uids, received_at, state, due_at)
	select $1::uuid, $2::uuid, $3, exists (select from same), $4, $5, $6, $7::text[], $8::text[], now(), 'waiting',
		now() + make_interval(secs => $9::float8 / 1000)
	where not exists (select from again)
	returning id, is_duplicate
)
select id, is_duplicate, 'again' from again union all select id, is_duplicate, 'new' from added`,
};

/** Returns the index data of instances, in the order of `$2`. */
export const judgeInstances: Statement = {
	name: 'judge_instances',
	text: `
select i.sop_class_uid, i.object_key, i.bytes, exists (
	select from imaging_conflict c
	where c.site_id = $1::uuid and c.sop_instance_uid = w.sop_instance_uid and c.settled_at is null
)
from unnest($2::text[]) with ordinality as w (sop_instance_uid, position)
left join imaging_instance i on i.site_id = $1::uuid and i.sop_instance_uid = w.sop_instance_uid
order by w.position`,
};

export const settleCommitment: Statement = {
	name: 'settle_commitment',
	text: `
update commitment_request
set state = 'reported', committed = $3::integer, refused = $4::integer, failure = null, settled_at = now()
where site_id = $1::uuid and id = $2::uuid`,
};

/** Tries a commitment again after `$3` milliseconds. If it is older than `$4` by then, it has failed for good. */
export const postponeCommitment: Statement = {
	name: 'postpone_commitment',
	text: `
update commitment_request
set due_at = now() + make_interval(secs => $3::float8 / 1000), failure = $5,
	state = case when received_at + make_interval(secs => $4::float8 / 1000) <= now() then 'failed' else 'waiting' end,
	settled_at = case when received_at + make_interval(secs => $4::float8 / 1000) <= now() then now() end
where site_id = $1::uuid and id = $2::uuid
returning state`,
};
