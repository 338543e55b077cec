import type { Failure } from '#core/failure.ts';
import type { ApplyContext } from '#record/apply/context.ts';
import type { ChangeSet } from '#record/change-set.ts';
import type { AnswerOf, Delivery, DeliveryKind, Outcome, Reply } from '#record/delivery.ts';

/** A delivery as its format understood it, with the function that answers it. */
export interface Interpretation<Answer = AnswerOf<DeliveryKind>> {
	messageType: string;
	/** The id by which a redelivery is recognised, with the sender and the bytes; empty when the message has none. */
	controlId: string;
	verdict: { kind: 'apply'; changeSet: ChangeSet } | { kind: 'ignore' } | { kind: 'refuse'; failure: Failure };
	/** Tells whether the message log keeps it: always, only when it was refused (if the record shows the others), or never. */
	logged: 'always' | 'refused' | 'never';
	/** The business identifier values of its patients, as far as a message that is not applied shows them. */
	patients?: readonly string[];
	/** Makes the answer to an outcome. */
	answer(outcome: Outcome, failure: Failure | undefined, effects: Effects): Answer;
	/** The bytes to log, if they are not those of the delivery. */
	logAs?: Uint8Array;
	/**
	 * Makes durable what must exist before the message's rows are committed. It is called once, while the batch reads. When it rejects, the
	 * message
	 * is refused.
	 */
	place?(): Promise<void>;
}

/** The results of the changes, in their order. */
export type Effects = Pick<ApplyContext, 'results' | 'stepReports' | 'instances'>;

/** A delivery whose parts are applied or refused separately (a Bundle of type batch), with the function that joins their replies. */
export interface PartedInterpretation<Answer = AnswerOf<DeliveryKind>> {
	parts: readonly Interpretation<Answer>[];
	join(replies: readonly Reply<Answer>[]): Reply<Answer>;
}

/** Reads one delivery. Never throws: an unreadable delivery becomes a refusal. */
export type Interpret = (delivery: Delivery) => Interpretation | PartedInterpretation;
