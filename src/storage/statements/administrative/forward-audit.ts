import type { Statement } from '../../statement.ts';
import { namedPatients } from './list-audit.ts';

/** The audit trail of all sites goes to one receiver, in the order in which batches were written. */

/** Lets one process send: the one that does, or another once that has been silent for ten seconds. Returns nothing to all others. */
export const holdForwarding: Statement = {
	name: 'hold_audit_forwarding',
	text: `
insert into audit_forwarder as f (receiver, holder, seen_at) values ($1, $2, now())
on conflict (receiver) do update set holder = excluded.holder, seen_at = now()
where f.holder = excluded.holder or f.seen_at < now() - interval '10 seconds'
returning receiver`,
};

/** Reads the events of the oldest batches that were not sent, each row with its batch; a batch without events has one row without an event. */
export const readUnsent: Statement = {
	name: 'read_unsent_audit_events',
	text: `
select b.chain_id, b.sequence, (extract(epoch from now() - b.recorded_at) * 1000)::bigint as age, e.id,
	to_char(e.recorded_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as recorded, s.slug, e.actor, e.action, e.subject, e.source,
	e.detail::text as detail,
	array_to_json(${namedPatients('e', 100)})::text as patients,
	array_to_json(coalesce(e.studies[1:100], '{}'))::text as studies
from (
	select n.*
	from audit_chain c
	left join audit_forwarded f on f.receiver = $1 and f.chain_id = c.id
	cross join lateral (
		select b.chain_id, b.sequence, b.id, b.recorded_at, b.first_id, b.last_id
		from audit_batch b
		where b.chain_id = c.id and b.sequence > coalesce(f.sequence, -1)
		order by b.sequence
		limit $2
	) n
	order by n.id
	limit $2
) b
left join audit_event e on e.id between b.first_id and b.last_id and e.batch = b.id
left join site s on s.id = e.site_id
order by b.id, e.id`,
};

export const noteSent: Statement = {
	name: 'note_sent_audit_batches',
	text: `
insert into audit_forwarded as f (receiver, chain_id, sequence)
select $1, k.chain_id, max(k.sequence)
from unnest($2::uuid[], $3::bigint[]) as k (chain_id, sequence)
group by k.chain_id
on conflict (receiver, chain_id) do update set sequence = greatest(f.sequence, excluded.sequence)`,
};
