import type { Statement } from '../../statement.ts';

const columns = `
	j.id, s.slug as site, j.kind, j.state, j.key_id, coalesce(k.label, j.key_id) as asked_by, j.request, j.progress, j.position, j.failure,
	j.created_at, j.finished_at`;
const from = `
from bulk_job j
join site s on s.id = j.site_id
left join api_key k on k.id = j.key_id and k.site_id = j.site_id`;

/** Lists exports and imports, newest first. A filter that is null does not apply. */
export const listJobs: Statement = {
	name: 'list_bulk_jobs',
	text: `
select ${columns}
${from}
where ($1::uuid[] is null or j.site_id = any ($1))
	and ($2::text is null or j.kind = $2)
	and ($3::text is null or j.state = $3)
	and ($4::uuid is null or j.id < $4)
order by j.id desc
limit $5::integer`,
};

export const showJob: Statement = {
	name: 'show_bulk_job',
	text: `
select ${columns}, j.site_id, j.result
${from}
where ($1::uuid[] is null or j.site_id = any ($1)) and j.id = $2::uuid`,
};

export const removeJob: Statement = {
	name: 'remove_bulk_job',
	text: 'delete from bulk_job where site_id = $1::uuid and id = $2::uuid',
};
