import { auditTrail } from '#record/holdings/audit-trail.ts';
import type { AuditEntry } from '#record/report.ts';
import { plainArray, type Statement, textArray } from '../statement.ts';
import type { StoredHolding } from '../stored-holding.ts';

/** Inserts events of the audit trail in the transaction of the change they describe. */
const insertAuditEvents: Statement = {
	name: 'insert_audit_events',
	text: `
insert into audit_event (id, recorded_at, site_id, actor, action, subject, source, detail)
select k.id, k.recorded_at, k.site_id, k.actor, k.action, k.subject, nullif(k.source, ''), k.detail::jsonb
from unnest($1::uuid[], $2::uuid[], $3::timestamptz[], $4::text[], $5::text[], $6::text[], $7::text[], $8::text[])
	as k (site_id, id, recorded_at, actor, action, subject, source, detail)`,
};

function auditParameters(rows: readonly { siteId: string; entry: AuditEntry }[]): unknown[] {
	const text = (of: (entry: AuditEntry) => string) => textArray(rows.map(({ entry }) => of(entry)));
	return [
		plainArray(rows.map(({ siteId }) => siteId)),
		plainArray(rows.map(({ entry }) => entry.id)),
		text(({ recordedAt }) => recordedAt),
		text(({ actor }) => actor),
		text(({ action }) => action),
		text(({ subject }) => subject),
		text(({ source }) => source),
		text(({ detail }) => detail),
	];
}

export function storedAuditTrail(): StoredHolding {
	return {
		write(writing) {
			const events = writing.of(auditTrail, ({ entries }, siteId) => entries.map((entry) => ({ siteId, entry })));
			if (events.length > 0) writing.send(insertAuditEvents, auditParameters(events));
		},
	};
}
