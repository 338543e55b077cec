import { z } from 'zod';
import type { OperationContext } from './context.ts';
import { listLoggedMessages, listMessagesInput, messageRecord } from './messages.ts';
import { time } from './schemas.ts';

/** A message may be logged so long after it was received, and is still shown. */
const lateMs = 60_000;
/** Whoever was away for longer is told that messages are left out. */
const awayMsMax = 600_000;

export const tailMessagesInput = z.strictObject({
	...listMessagesInput.omit({ since: true, until: true, before: true, limit: true }).shape,
	since: time.optional().describe('by default, a minute ago'),
	limit: z.coerce.number().int().min(1).max(500).default(200),
});

export const messageTail = z.strictObject({
	messages: z.array(messageRecord).describe('the newest messages since then, oldest first'),
	cut: z.boolean().describe('there are older ones since then, which are left out'),
});
export type MessageTail = z.output<typeof messageTail>;

/** Lists what has come, over all nodes. The same message may be listed again by the next call. */
export async function tailMessages(
	context: OperationContext,
	{ since, limit, ...filters }: z.output<typeof tailMessagesInput>,
): Promise<MessageTail> {
	const from = since ?? new Date(context.nowMs() - lateMs).toISOString();
	const found = await listLoggedMessages(context, { ...filters, since: from, limit: limit + 1 });
	return { messages: found.slice(0, limit).reverse(), cut: found.length > limit };
}

export interface TailStep {
	/** Messages that were not shown before, oldest first. */
	messages: MessageTail['messages'];
	/** True if messages were left out since the step before: more came than a step shows, or the caller was away for long. */
	skipped: boolean;
}

/** Shows each message once, although they are committed in another order than they are received, by several nodes. */
export class Tail {
	readonly #read: (since: string) => Promise<MessageTail>;
	readonly #nowMs: () => number;
	/** The time of receipt of each message that a later step may meet again. */
	#shown = new Map<string, number>();
	#readAtMs: number | undefined;
	readonly #from: string | undefined;

	/** @param from the time of receipt from which on the first step shows what has come; by default, a minute ago */
	constructor(read: (since: string) => Promise<MessageTail>, nowMs: () => number, from?: string) {
		this.#read = read;
		this.#nowMs = nowMs;
		this.#from = from;
	}

	async next(): Promise<TailStep> {
		const nowMs = this.#nowMs();
		const lastMs = this.#readAtMs ?? nowMs;
		const sinceMs = Math.max(Math.min(lastMs, nowMs) - lateMs, nowMs - awayMsMax);
		const from = this.#readAtMs === undefined ? this.#from : undefined;
		const { messages, cut } = await this.#read(from ?? new Date(sinceMs).toISOString());
		this.#readAtMs = nowMs;
		const isNew = messages.filter(({ id }) => !this.#shown.has(id));
		const isContinued = messages.length > isNew.length || this.#shown.size === 0;
		const skipped = this.#shown.size > 0 && ((cut && !isContinued) || nowMs - lastMs > awayMsMax);
		const oldestMs = nowMs - lateMs * 2;
		this.#shown = new Map([...this.#shown].filter(([, atMs]) => atMs >= oldestMs));
		for (const { id, received_at: at } of isNew) this.#shown.set(id, Date.parse(at));
		return { messages: isNew, skipped };
	}
}
