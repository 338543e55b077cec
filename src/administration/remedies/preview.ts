import { z } from 'zod';
import type { Outcome } from '#record/delivery.ts';
import { readSettings } from '#record/settings/settings.ts';
import { changedSince, openMessages } from '#storage/statements/administrative/failures.ts';
import { AdministrationError, type OperationContext } from '../context.ts';
import { messageRow, type WholeMessageRow } from '../messages.ts';
import { replayableKinds, replayOf } from '../replay.ts';
import { type Change, causeOfMessage, changeOf, mendable } from './explain.ts';
import { remedyNames } from './table.ts';

export const chosenRemedy = {
	id: z.string(),
	remedy: z.enum(remedyNames).optional().describe('without one, the messages are tried as everything is now'),
	value: z.string().max(200).optional().describe('what the remedy asks for'),
};
export const previewRemedyInput = z.strictObject(chosenRemedy);

export const remedyPreview = z.strictObject({
	waiting: z.number().int().describe('messages that wait for the same cause'),
	tried: z.number().int().describe('so many of them were tried, oldest first; nothing was written'),
	accepted: z.number().int(),
	ignored: z.number().int(),
	known: z.number().int().describe('messages that were accepted before'),
	refused: z.number().int(),
	refused_for: z.array(z.strictObject({ code: z.string(), failure: z.string(), messages: z.number().int() })),
	unchanged: z.boolean().describe('no person has changed anything at the site since the newest of these messages was refused'),
});
type RemedyPreview = z.output<typeof remedyPreview>;

interface OpenMessage {
	id: string;
	client_id: string;
	source: string;
}

/** A few messages are tried at once: they share the batches of the site with what comes meanwhile. */
const triedAtOnce = 8;

/** Tries the messages of a cause with a remedy, as a replay would carry them out, and writes nothing. */
export async function previewRemedy(
	context: OperationContext,
	{ remedy, value }: Pick<z.output<typeof previewRemedyInput>, 'remedy' | 'value'>,
	row: WholeMessageRow,
): Promise<RemedyPreview> {
	const { database, limits } = context;
	const cause = await causeOfMessage(context, row);
	if (cause === undefined) throw new AdministrationError('only what becomes of a refused message can be seen before');
	if (!(await replayableKinds()).has(row.kind)) throw new AdministrationError(`messages of type ${row.message_type} cannot be replayed`);
	const change = remedy === undefined ? undefined : changeOf(mendable(row), remedy, value);
	const values = [row.site_id, limits.failuresScannedMax, null, cause.id, limits.replayMessagesMax];
	const open = await database.search<OpenMessage>(openMessages, values, limits.readMsMax);
	const tally = new Tally();
	const tried = open.slice(0, limits.rehearsedMessagesMax);
	for (let start = 0; start < tried.length; start += triedAtOnce) {
		const some = tried.slice(start, start + triedAtOnce);
		for (const answer of await Promise.all(some.map((message) => rehearse(context, message, change)))) tally.add(answer);
	}
	return { waiting: open.length, tried: tried.length, ...tally.counts(), unchanged: !(await isChanged(context, row, open)) };
}

interface Answer {
	outcome: Outcome;
	failure?: { code: string; diagnostics: string };
}

async function rehearse(context: OperationContext, message: OpenMessage, change: Change | undefined): Promise<Answer> {
	const row = await messageRow(context, message.id);
	const delivery = await replayOf(row, context.nowMs());
	const changed = change !== undefined && concerns(change, message) ? change.settings : {};
	const settings = readSettings({ ...delivery.settings, ...changed });
	return context.deliver({ ...delivery, settings, rehearsal: true });
}

/** A setting of a client or key changes what becomes of its own messages alone. */
function concerns({ subject }: Change, { client_id: clientId, source }: OpenMessage): boolean {
	return subject.of === 'site' || subject.id === (subject.of === 'client' ? clientId : source);
}

async function isChanged({ database }: OperationContext, row: WholeMessageRow, open: readonly { id: string }[]): Promise<boolean> {
	const newest = open.at(-1)?.id ?? row.id;
	const [found] = await database.rows<{ is_changed: boolean }>(changedSince, [row.site_id, newest]);
	return found?.is_changed === true;
}

class Tally {
	readonly #counts = { accepted: 0, ignored: 0, known: 0, refused: 0 };
	readonly #failures = new Map<string, RemedyPreview['refused_for'][number]>();

	add({ outcome, failure }: Answer): void {
		this.#counts[outcome === 'duplicate' ? 'known' : outcome]++;
		if (failure === undefined) return;
		const { code, diagnostics } = failure;
		const key = `${code} ${diagnostics}`;
		const known = this.#failures.get(key) ?? { code, failure: diagnostics, messages: 0 };
		known.messages++;
		this.#failures.set(key, known);
	}

	counts() {
		const refusedFor = [...this.#failures.values()].sort((left, right) => right.messages - left.messages).slice(0, shownMax);
		return { ...this.#counts, refused_for: refusedFor };
	}
}

/** Reasons that a preview names. */
const shownMax = 5;
