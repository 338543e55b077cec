import { Failure, failureRecord } from '#core/failure.ts';
import { newId } from '#core/id.ts';
import { applyChangeSet } from '#record/apply/apply.ts';
import type { Row } from '#record/apply/rows.ts';
import type { WorkingSet } from '#record/apply/working-set.ts';
import type { Flag } from '#record/change-set.ts';
import type { Outcome, Reply } from '#record/delivery.ts';
import { type AcceptedMessage, type LoggedMessage, senderKey } from '#storage/message-log.ts';
import { changeSetOf, type Prepared } from './prepared.ts';

/** What a batch decided of one message: its reply, and its row in the message log. Nothing is true before the commit. */
export interface Settled {
	reply: Reply;
	logged: LoggedMessage;
}

export interface SettlementContext {
	/** What was accepted before, by sender key; grows with the batch itself. */
	accepted: Map<string, AcceptedMessage[]>;
	set: WorkingSet;
	sequence: bigint;
	lastUpdated: string;
	/** Called for what is a bug, not a fault of the message. */
	onBug(error: unknown, message: Prepared): void;
}

/** Decides one message in its turn: answered before, refused, ignored, or applied to the working set. */
export function settle(message: Prepared, context: SettlementContext): Settled {
	const { delivery, interpretation, digest } = message;
	const key = senderKey({ siteId: delivery.siteId, clientId: delivery.clientId, controlId: interpretation.controlId });
	const earlier = interpretation.controlId === '' ? [] : (context.accepted.get(key) ?? []);
	const same =
		earlier.find((accepted) => accepted.digest === digest && accepted.acks) ?? earlier.find((accepted) => accepted.digest === digest);
	if (same && delivery.replayOf === undefined) {
		// The log may have been cut back since; then the same answer is rendered anew.
		const acks = same.acks ?? interpretation.acknowledge('accepted', undefined);
		return settled(message, 'duplicate', undefined, [], [], acks, context, same.messageId);
	}
	const flags: Flag[] = [];
	if (earlier.length > 0 && !same) flags.push({ code: 'same-control-id', text: 'MSH-10 was used before for a message with other content' });
	const changed: Row[] = [];
	const [outcome, failure] = verdictOf(message, context, flags, changed);
	const acks = interpretation.acknowledge(outcome, failure);
	if (outcome !== 'refused' && !same) context.accepted.set(key, [...earlier, { messageId: delivery.id, digest, acks }]);
	return settled(message, outcome, failure, flags, changed, acks, context, delivery.replayOf ?? null);
}

function verdictOf(message: Prepared, context: SettlementContext, flags: Flag[], changed: Row[]): [Outcome, Failure | undefined] {
	const { verdict } = message.interpretation;
	if (message.poison) return ['refused', message.poison];
	if (verdict.kind === 'refuse') return ['refused', verdict.failure];
	const changeSet = changeSetOf(message);
	if (changeSet === undefined) return ['ignored', undefined];
	flags.push(...changeSet.flags);
	const before = flags.length;
	try {
		applyChangeSet({ set: context.set, newId, source: sourceOf(message), lastUpdated: context.lastUpdated, flags, changed }, changeSet);
		return ['accepted', undefined];
	} catch (error) {
		flags.length = before;
		changed.length = 0;
		if (error instanceof Failure) return ['refused', error];
		context.onBug(error, message);
		return ['refused', new Failure('internal', 'the message could not be processed', { cause: error })];
	}
}

/** `meta.source`: by which surface and under which control id the content came. */
export function sourceOf({ delivery, interpretation }: Prepared): string {
	return `urn:tributary:${delivery.surface}:${encodeURIComponent(interpretation.controlId.toWellFormed())}`;
}

function settled(
	message: Prepared,
	outcome: Outcome,
	failure: Failure | undefined,
	flags: Flag[],
	changed: Row[],
	acks: Uint8Array[],
	context: SettlementContext,
	replayOf: string | null,
): Settled {
	const { delivery, digest, interpretation } = message;
	const { messageType, controlId } = interpretation;
	const record = failure ? failureRecord(failure) : undefined;
	const reply: Reply = { id: delivery.id, outcome, messageType, controlId, acks, flags };
	if (record) reply.failure = record;
	const logged: LoggedMessage = {
		delivery,
		digest,
		sequence: context.sequence,
		messageType,
		controlId,
		outcome,
		failure: record,
		flags: flags.length === 0 ? null : JSON.stringify(flags),
		changed: changed.length === 0 ? null : JSON.stringify(changed.map((row) => `${row.resourceType}/${row.id}/_history/${row.version}`)),
		replayOf,
		acks,
	};
	return { reply, logged };
}
