import { z } from 'zod';
import { rowIdOf } from '#record/row-id.ts';
import { associationAction, listAuditEvents, type TrailPart } from '#storage/statements/administrative/list-audit.ts';
import { firstIdOf, idLagMs } from '#storage/statements/administrative/search-messages.ts';
import { actorsAlike } from './alike.ts';
import type { OperationContext } from './context.ts';
import { instant, ofSite, page, time } from './schemas.ts';
import { visibleSiteIds } from './visible-sites.ts';

export const listAuditInput = z.strictObject({
	...ofSite,
	actor: z
		.string()
		.max(200)
		.optional()
		.describe('a part of who acted, in any case: of the e-mail address, of the owner or label of a key, of the name of a client'),
	action: z.string().optional().describe('an action such as key.create, or a noun such as key for all of its actions'),
	changes: z
		.boolean()
		.default(false)
		.describe('only what people and commands changed: without reads, accesses of interfaces, refused callers and sign-ins'),
	since: time.optional(),
	until: time.optional(),
	patient: z.string().optional().describe('id of a patient: who read or changed it, and those whom merges have replaced by it'),
	study: z.string().optional().describe('a Study Instance UID'),
	...page(100),
});

export const auditRecord = z.strictObject({
	id: z.uuid(),
	recorded_at: instant,
	site: z.string().nullable().describe('null if the event belongs to no site'),
	actor: z.string().describe('an e-mail address, cli:<user>, key:<id>, client:<id>, or sender if the caller is unknown'),
	action: z.string(),
	subject: z.string(),
	subject_name: z.string().nullable().describe('the name of the client, key, issuer, remote AE, site or address that it is about'),
	source: z.string().nullable().describe('the IP address of the caller; null for the command line'),
	detail: z.record(z.string(), z.unknown()).describe('for a change, the values before and after of the members that changed'),
	holder: z.string().nullable().describe('the owner of the key, or the name of the client'),
	patients: z.array(z.string()).describe('ids of the patients whose data was read or changed, at most 100'),
	patient_count: z.int(),
	studies: z.array(z.string()).describe('Study Instance UIDs, at most 100'),
});
type AuditRecord = z.infer<typeof auditRecord>;

type Asked = Omit<z.input<typeof listAuditInput>, 'site' | 'limit'> & { limit: number };

/** Lists audit events, newest first. Only people with access to all sites see the events that belong to no site. */
export function listAudit(context: OperationContext, asked: Asked): Promise<AuditRecord[]> {
	return listTrail(context, { ...asked, part: trailPartOf(asked) });
}

/** Associations that are asked for by their action are read by their index, too. */
export function trailPartOf({ action, changes }: Pick<Asked, 'action' | 'changes'>): TrailPart {
	if (changes) return 'changes';
	return action === associationAction ? 'associations' : undefined;
}

/** Filters of associations. */
export interface AssociationFilters {
	ae?: string | undefined;
	outcome?: string | undefined;
}

export async function listTrail(
	context: OperationContext,
	asked: Omit<Asked, 'changes'> & { part: TrailPart; association?: AssociationFilters },
): Promise<AuditRecord[]> {
	const { actor, action, since, until, patient, study, before, limit, part, association } = asked;
	const siteIds = await visibleSiteIds(context);
	const acted = actor === undefined ? undefined : await actorsAlike(context, siteIds, actor);
	if (acted?.actors.length === 0) return [];
	const filters = [action, since, until, before].map((value) => value ?? null);
	const statement = listAuditEvents({ byActor: acted !== undefined, part });
	type Row = Omit<AuditRecord, 'recorded_at'> & { recorded_at: Date };
	const values = [
		acted?.siteIds ?? siteIds,
		acted?.actors ?? null,
		...filters,
		limit,
		patient === undefined ? null : rowIdOf(patient),
		study ?? null,
		since === undefined ? null : firstIdOf(Date.parse(since) - idLagMs),
		until === undefined ? null : firstIdOf(Date.parse(until) + idLagMs),
		association?.ae || null,
		association?.outcome ?? null,
	];
	const rows = await context.database.search<Row>(statement, values, context.limits.readMsMax);
	return rows.map((row) => ({ ...row, recorded_at: row.recorded_at.toISOString() }));
}

/** The header line of the audit trail as CSV (RFC 4180). */
export const auditCsvHead = `${Object.keys(auditRecord.shape).join(',')}\r\n`;

/** Renders one event as a line of CSV. */
export function auditCsvRow(record: AuditRecord): string {
	const { id, recorded_at, site, actor, holder, action, subject, subject_name, source, detail, patients, patient_count, studies } = record;
	const named = [subject_name, source, JSON.stringify(detail), holder, patients.join(' '), String(patient_count), studies.join(' ')];
	return `${[id, recorded_at, site, actor, action, subject, ...named].map(csvCell).join(',')}\r\n`;
}

/** Senders choose some of these values, so a value that a spreadsheet would run as a formula is turned into text. */
function csvCell(value: string | null): string {
	const text = value ?? '';
	return `"${(/^[=+\-@\t\r]/.test(text) ? `'${text}` : text).replaceAll('"', '""')}"`;
}
