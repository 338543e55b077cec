import type { Statement } from '../../statement.ts';

/** Takes up to `$1` due requests of all sites, for `$2` milliseconds. */
export const claimCommitments: Statement = {
	name: 'claim_commitments',
	text: `
update commitment_request r
set attempts = r.attempts + 1, due_at = now() + make_interval(secs => $2::float8 / 1000)
from (
	select site_id, id from commitment_request
	where state = 'waiting' and due_at <= now()
		-- One database alone reports: that which serves the site.
		and not exists (select from site s where s.id = commitment_request.site_id and s.move_state in ('left', 'arriving'))
	order by due_at
	limit $1::integer
	for update skip locked
) d
where r.site_id = d.site_id and r.id = d.id
returning r.site_id, r.id, r.transaction_uid, r.is_duplicate, r.calling_ae, r.called_ae, r.attempts,
	array_to_string(r.sop_class_uids, ' '), array_to_string(r.sop_instance_uids, ' ')`,
};

/** Requests that were settled `$1` milliseconds ago or earlier. */
export const deleteOldCommitments: Statement = {
	name: 'delete_old_commitments',
	text: `
delete from commitment_request
where state <> 'waiting' and settled_at < now() - make_interval(secs => $1::float8 / 1000)`,
};

/** The newest first; null: any. */
export const listCommitments: Statement = {
	name: 'list_commitments',
	text: `
select r.id, s.slug as site, r.transaction_uid, r.calling_ae, r.source, r.state, cardinality(r.sop_instance_uids) as instances,
	r.committed, r.refused, r.attempts, r.failure, r.received_at, r.settled_at
from commitment_request r
join site s on s.id = r.site_id
where ($1::text[] is null or s.slug = any ($1)) and ($2::text is null or r.state = $2)
order by r.received_at desc, r.id desc
limit $3::integer`,
};
