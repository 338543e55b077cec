import { z } from 'zod';
import { listAuditEvents } from '#storage/statements/administrative/list-audit.ts';
import type { OperationContext } from './context.ts';
import { instant, ofSite, page, time } from './schemas.ts';
import { visibleSiteIds } from './visible-sites.ts';

export const listAuditInput = z.strictObject({
	...ofSite,
	actor: z.string().optional(),
	action: z.string().optional().describe('an action such as key.create, or a noun such as key for all of its actions'),
	since: time.optional(),
	until: time.optional(),
	...page(100),
});

export const auditRecord = z.strictObject({
	id: z.uuid(),
	recorded_at: instant,
	site: z.string().nullable().describe('null if the event belongs to no site'),
	actor: z.string().describe('an e-mail address, cli:<user>, key:<id>, client:<id>, or sender if the caller is unknown'),
	action: z.string(),
	subject: z.string(),
	source: z.string().nullable().describe('the IP address of the caller; null for the command line'),
	detail: z.record(z.string(), z.unknown()).describe('for a change, the values before and after of the members that changed'),
});
type AuditRecord = z.infer<typeof auditRecord>;

/** Lists audit events, newest first. Only people with access to all sites see the events that belong to no site. */
export async function listAudit(
	context: OperationContext,
	{ actor, action, since, until, before, limit }: Omit<z.infer<typeof listAuditInput>, 'site'>,
): Promise<AuditRecord[]> {
	const filters = [actor, action, since, until, before].map((value) => value ?? null);
	type Row = Omit<AuditRecord, 'recorded_at'> & { recorded_at: Date };
	const rows = await context.database.rows<Row>(listAuditEvents, [await visibleSiteIds(context), ...filters, limit]);
	return rows.map((row) => ({ ...row, recorded_at: row.recorded_at.toISOString() }));
}

/** The header line of the audit trail as CSV (RFC 4180). */
export const auditCsvHead = `${Object.keys(auditRecord.shape).join(',')}\r\n`;

/** Renders one event as a line of CSV. */
export function auditCsvRow(record: AuditRecord): string {
	const cells = [record.id, record.recorded_at, record.site, record.actor, record.action, record.subject, record.source];
	return `${[...cells, JSON.stringify(record.detail)].map(csvCell).join(',')}\r\n`;
}

/** Senders choose some of these values, so a value that a spreadsheet would run as a formula is turned into text. */
function csvCell(value: string | null): string {
	const text = value ?? '';
	return `"${(/^[=+\-@\t\r]/.test(text) ? `'${text}` : text).replaceAll('"', '""')}"`;
}
