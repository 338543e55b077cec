import type { Statement } from '../../statement.ts';

/** Months of the audit trail are removed for all sites at once. The functions are defined in migration `audit-retention`. */

/**
 * The days for which the site keeps the trail that keeps it longest; 0 is for ever. `$1` holds for sites that say nothing, and for events of no
 * site. A legal hold on anything keeps all of it, because a month goes as a whole.
 */
export const auditKeepDays: Statement = {
	name: 'audit_keep_days',
	text: `
select case when min(k.days) = 0 or exists (select from legal_hold h where h.lifted_at is null) then 0 else max(k.days) end
from (
	select coalesce(nullif(s.settings ->> 'audit_retention_days', '')::integer, $1::integer) as days from site s
	union all
	select $1::integer
) k`,
};

export const findRemovable: Statement = {
	name: 'find_removable_audit_months',
	text: 'select removable_audit_months($1::timestamptz)',
};

export const countRemovable: Statement = {
	name: 'count_removable_audit_events',
	text: 'select count(*) from audit_event where id < $1::uuid',
};

/** Reads the last batch that each chain loses. */
export const readRemovableEnds: Statement = {
	name: 'read_removable_chain_ends',
	text: `
select b.chain_id, b.sequence, encode(b.digest, 'hex') as digest
from (select chain_id, max(sequence) as sequence from audit_batch where id < $1::uuid group by chain_id) e
join audit_batch b on b.chain_id = e.chain_id and b.sequence = e.sequence`,
};

export const removeMonths: Statement = {
	name: 'remove_audit_months',
	text: 'select remove_audit_months($1::uuid)',
};
