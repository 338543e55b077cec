import type { Statement } from '../../statement.ts';

const columns = 'id, recorded_at, site_id, actor, action, subject, source, detail';

const filters = `
	($2::text is null or e.actor = $2)
	and ($3::text is null or e.action = $3 or starts_with(e.action, $3 || '.'))
	and ($4::timestamptz is null or e.recorded_at >= $4)
	and ($5::timestamptz is null or e.recorded_at < $5)
	and ($6::uuid is null or e.id < $6)`;

/**
 * Lists the audit trail, newest first: of the sites `$1`, or of all sites and none if that is null. A filter that is null does not apply;
 * `$3`
 * is an action or its noun.
 */
export const listAuditEvents: Statement = {
	name: 'list_audit_events',
	text: `
select a.id, a.recorded_at, s.slug as site, a.actor, a.action, a.subject, a.source, a.detail
from (
	(select ${columns} from audit_event e where $1::uuid[] is null and ${filters} order by e.id desc limit $7)
	union all
	(select a.* from unnest($1::uuid[]) as w (id)
	cross join lateral (select ${columns} from audit_event e where e.site_id = w.id and ${filters} order by e.id desc limit $7) a)
) a
left join site s on s.id = a.site_id
order by a.id desc
limit $7`,
};
