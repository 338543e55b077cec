import { nilIdSql, type Statement } from '../../statement.ts';
import { linkedColumns } from './audit-chain.ts';

/** These walk the audit trail of all sites: its chains belong to the processes that wrote them, and not to sites. */

export const readChains: Statement = {
	name: 'read_audit_chains',
	text: 'select id from audit_chain order by id',
};

/** Reads what batches say of others. */
export const readNotes: Statement = {
	name: 'read_audit_notes',
	text: `select notes from audit_batch where notes <> '{}'`,
};

export const readBatches: Statement = {
	name: 'read_audit_batches',
	text: `
select sequence, id, (extract(epoch from recorded_at) * 1000000)::bigint as at, events, first_id, last_id, encode(previous, 'hex') as previous,
	encode(digest, 'hex') as digest, notes
from audit_batch
where chain_id = $1 and sequence > $2
order by sequence
limit $3`,
};

/** Reads the events of batches. Their ids lie between the two. */
export const readLinkedEvents: Statement = {
	name: 'read_linked_audit_events',
	text: `
select ${linkedColumns}, e.batch
from audit_event e
where e.id between $1 and $2 and e.batch = any ($3::uuid[])
order by e.id`,
};

/** Finds an event that claims to belong to a batch and does not: there is none, or it does not reach to it. */
export const readStrayEvent: Statement = {
	name: 'read_stray_audit_event',
	text: `
select e.id, e.batch
from audit_event e
left join audit_batch b on b.id = e.batch
where e.batch is not null and e.batch <> ${nilIdSql} and (b.id is null or b.first_id is null or e.id not between b.first_id and b.last_id)
order by e.id
limit 1`,
};

/** Counts events that no batch links: those from before there were batches, those that pretend so, and those that wait. `$1` is the first chain. */
export const countUnlinked: Statement = {
	name: 'count_unlinked_audit_events',
	text: `
select count(*) filter (where e.batch is not null and not e.id > $1::uuid) as earlier,
	min(e.id::text) filter (where e.batch is not null and e.id > $1::uuid) as late,
	count(*) filter (where e.batch is null) as waiting
from audit_event e
where e.batch is null or e.batch = ${nilIdSql}`,
};
