import { z } from 'zod';
import { Failure } from '#core/failure.ts';
import { Message } from '#hl7v2/message.ts';
import { messageBytes } from '#storage/statements/administrative/message-bytes.ts';
import { SearchWork } from './content-work.ts';
import { note, type OperationContext } from './context.ts';
import { type ContentCondition, conditionOf, contentText, satisfies } from './message-content.ts';
import { listLoggedMessages, listMessagesInput, messageRecord } from './messages.ts';
import { instant } from './schemas.ts';
import { siteBySlug } from './sites.ts';

export const searchContentInput = z.strictObject({
	...listMessagesInput.omit({ site: true, kind: true, limit: true }).shape,
	site: z.string(),
	where: z.array(contentText).min(1).max(5).describe('all of them hold'),
	limit: z.coerce.number().int().min(1).max(200).default(50),
});

export const contentSearch = z.strictObject({
	messages: z.array(messageRecord).describe('newest first'),
	examined: z.int().describe('HL7 v2 messages that were looked into'),
	passed_over: z.int().describe('those among them that are larger than 1 MiB, repeat another message, take too long, or cannot be read'),
	looked_back_to: instant.nullable().describe('when the oldest of them was received'),
	next: z.uuid().nullable().describe('goes on as `before`; null if there is nothing older'),
});

type ContentSearch = z.output<typeof contentSearch>;
type MessageRecord = z.output<typeof messageRecord>;

const sliceRows = 200;
/** So many messages, of up to 1 MiB each, are in memory at a time. */
const portionRows = 20;
const examinedMax = 5000;
const withinMs = 5000;
const dayMs = 86_400_000;

/**
 * Looks into stored messages, newest first, in turns between which others are served. It ends when the page is full, after 5,000 messages or
 * five seconds; without `since` it goes back a day. The audit trail has the fields that were asked for, not their values.
 */
export async function searchContent(context: OperationContext, input: z.output<typeof searchContentInput>): Promise<ContentSearch> {
	const { site, where, limit, before, since, ...filters } = input;
	const conditions = where.map(conditionOf);
	const { id: siteId } = await siteBySlug(context.em.fork(), site);
	const fields = [...new Set(conditions.map(({ segment, field }) => `${segment}-${field}`))];
	await note(context, { action: 'message.search', subject: fields.join(' '), siteId });
	const work = new SearchWork(withinMs);
	const from = since ?? new Date(context.nowMs() - dayMs).toISOString();
	const found: ContentSearch = { messages: [], examined: 0, passed_over: 0, looked_back_to: null, next: before ?? null };
	while (found.examined < examinedMax && !work.isOver()) {
		const slice = await listLoggedMessages(context, {
			...{ ...filters, kind: 'hl7v2', since: from, limit: sliceRows },
			...(found.next !== null && { before: found.next }),
		});
		for (let at = 0; at < slice.length; at += portionRows) {
			const portion = slice.slice(at, at + portionRows);
			const ids = portion.map(({ id }) => id);
			const bytes = await bytesOf(context, siteId, ids);
			const look = (id: string) => verdictOf(bytes.get(id), conditions, context.limits.segmentsMax, work);
			if (!(await lookInto(portion, found, limit, work, look))) return found;
		}
		if (slice.length < sliceRows) return { ...found, next: null };
	}
	return found;
}

/**
 * Adds what is found among some messages; returns false when the search ends with them. A search whose time is over has looked into one
 * message at least, so that `next` goes on.
 */
async function lookInto(
	records: readonly MessageRecord[],
	found: ContentSearch,
	limit: number,
	work: SearchWork,
	look: (id: string) => Promise<boolean | undefined>,
): Promise<boolean> {
	for (const record of records) {
		if (found.examined > 0 && work.isOver()) return false;
		await work.nextMessage();
		const verdict = await look(record.id);
		// A message that was not looked into to its end for want of time is the first of the next search.
		if (verdict === undefined && found.examined > 0 && work.isOver()) return false;
		found.examined++;
		found.looked_back_to = record.received_at;
		found.next = record.id;
		if (verdict === undefined) found.passed_over++;
		else if (verdict) found.messages.push(record);
		if (found.messages.length === limit) return false;
	}
	return true;
}

async function bytesOf({ database }: OperationContext, siteId: string, ids: readonly string[]): Promise<Map<string, Buffer>> {
	const rows = await database.rows<{ id: string; bytes: Buffer | null }>(messageBytes, [siteId, ids]);
	return new Map(rows.flatMap(({ id, bytes }) => (bytes === null ? [] : [[id, bytes] as const])));
}

/** Undefined if the message cannot be looked into, or not in its time. */
async function verdictOf(
	bytes: Buffer | undefined,
	conditions: readonly ContentCondition[],
	segmentsMax: number,
	work: SearchWork,
): Promise<boolean | undefined> {
	if (bytes === undefined) return undefined;
	try {
		const { segments } = Message.parse(bytes, { segmentsMax });
		for (const condition of conditions) {
			const holds = await satisfies(segments, condition, work);
			if (holds !== true) return holds;
		}
		return true;
	} catch (error) {
		if (error instanceof Failure) return undefined;
		throw error;
	}
}
