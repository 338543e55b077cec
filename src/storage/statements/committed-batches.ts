import type { Statement } from '../statement.ts';

/** Notes the batch in its own transaction. */
export const insertBatch: Statement = {
	name: 'insert_batch',
	text: 'insert into committed_batch (site_id, id, committed_at) values ($1::uuid, $2::uuid, $3::timestamptz)',
};

/** Tells whether a batch was committed. It is asked when the turns of its sites are taken, so the batch is no longer under way. */
export const findBatch: Statement = {
	name: 'find_batch',
	text: 'select id from committed_batch where site_id = $1::uuid and id = $2::uuid',
};

/** Nobody asks for a batch after an hour, because it is repeated at once or not at all. */
export const forgetBatches: Statement = {
	name: 'forget_batches',
	text: `delete from committed_batch where site_id = $1::uuid and committed_at < $2::timestamptz - interval '1 hour'`,
};
