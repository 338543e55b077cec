import { z } from 'zod';
import { listSetAside as listStatement, openMessages, setAside, takeUpAgain } from '#storage/statements/administrative/failures.ts';
import { AdministrationError, note, type OperationContext } from './context.ts';
import type { WholeMessageRow } from './messages.ts';
import { instant, ofSite, page } from './schemas.ts';
import { siteBySlug } from './sites.ts';

/** The reason stays beside the message: neither the audit trail nor a log repeats it. */
const reason = z.string().trim().min(1).max(500).describe('why nobody will mend it; shown beside the message, and nowhere else');

export const setAsideInput = z.strictObject({ id: z.string(), reason });
export const setAsideCauseInput = z.strictObject({ site: z.string(), cause: z.string().regex(/^[0-9a-f]{32}$/), reason });
export const setAsideResult = z.strictObject({ messages: z.number().int().describe('messages that were set aside now') });
export const listSetAsideInput = z.strictObject({ ...ofSite, ...page(50) });

export const setAsideRecord = z.strictObject({
	id: z.uuid(),
	site: z.string(),
	received_at: instant,
	message_type: z.string(),
	control_id: z.string(),
	surface: z.string(),
	failure_code: z.string().nullable(),
	failure: z.string().nullable(),
	reason: z.string(),
	actor: z.string(),
	set_aside_at: instant,
});
type SetAsideRecord = z.output<typeof setAsideRecord>;
type Result = z.output<typeof setAsideResult>;

/** A refused message that will never be mended no longer counts as open. */
export async function setMessageAside(context: OperationContext, row: WholeMessageRow, why: string): Promise<Result> {
	if (row.outcome !== 'refused') throw new AdministrationError('only a refused message can be set aside');
	return carryOut(context, row.site_id, [row.id], why);
}

/** Sets aside what waits for a cause. */
export async function setCauseAside(context: OperationContext, input: z.output<typeof setAsideCauseInput>): Promise<Result> {
	const { database, limits } = context;
	const { id: siteId } = await siteBySlug(context.em.fork(), input.site);
	const values = [siteId, limits.failuresScannedMax, null, input.cause, limits.replayMessagesMax];
	const open = await database.search<{ id: string }>(openMessages, values, limits.readMsMax);
	if (open.length === 0) throw new AdministrationError('this cause has no message that waits');
	const ids = open.map(({ id }) => id);
	return carryOut(context, siteId, ids, input.reason, input.cause);
}

async function carryOut(context: OperationContext, siteId: string, ids: readonly string[], why: string, cause?: string): Promise<Result> {
	const done = await context.database.rows<{ id: string }>(setAside, [siteId, ids, why, context.actor.name]);
	const [first] = done;
	if (first === undefined) throw new AdministrationError('the message is set aside already', 'conflict');
	const after = { messages: done.length, ...(cause === undefined ? {} : { cause }) };
	await note(context, { action: 'messages.set-aside', subject: cause ?? first.id, siteId, after });
	return { messages: done.length };
}

/** The message waits again. */
export async function takeMessageUp(context: OperationContext, { id, site_id: siteId }: WholeMessageRow): Promise<Result> {
	const done = await context.database.rows(takeUpAgain, [siteId, id]);
	if (done.length === 0) throw new AdministrationError('the message is not set aside');
	await note(context, { action: 'messages.take-up', subject: id, siteId });
	return { messages: done.length };
}

export async function listSetAside(
	{ database, visibleSites }: OperationContext,
	{ before, limit }: Omit<z.output<typeof listSetAsideInput>, 'site'>,
): Promise<SetAsideRecord[]> {
	type Row = Omit<SetAsideRecord, 'received_at' | 'set_aside_at'> & { received_at: Date; set_aside_at: Date };
	const rows = await database.rows<Row>(listStatement, [visibleSites === 'all' ? null : visibleSites, before ?? null, limit]);
	return rows.map((row) => ({ ...row, received_at: row.received_at.toISOString(), set_aside_at: row.set_aside_at.toISOString() }));
}
