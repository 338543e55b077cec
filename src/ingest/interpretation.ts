import type { Failure } from '#core/failure.ts';
import type { ApplyContext } from '#record/apply/context.ts';
import type { ChangeSet } from '#record/change-set.ts';
import type { AnswerOf, Delivery, DeliveryKind, Outcome, Reply } from '#record/delivery.ts';

/** A delivery as its format understood it, and how that format answers it. */
export interface Interpretation<Answer = AnswerOf<DeliveryKind>> {
	messageType: string;
	/** What a redelivery is recognised by, with the sender and the bytes; empty when the message has none. */
	controlId: string;
	verdict: { kind: 'apply'; changeSet: ChangeSet } | { kind: 'ignore' } | { kind: 'refuse'; failure: Failure };
	/** What the message log keeps: every message, what was refused of those that leave their trace in the record, or none. */
	logged: 'always' | 'refused' | 'never';
	/** Values of the business identifiers of whom the message is about, as far as they can be read from one that is not applied. */
	patients?: readonly string[];
	/** Makes the answer to an outcome. */
	answer(outcome: Outcome, failure: Failure | undefined, effects: Effects): Answer;
	/** The bytes by which it is logged, where they are not those of the delivery. */
	logAs?: Uint8Array;
	/**
	 * What has to be durable before the message's rows are committed. Called once, while the batch reads; when it rejects, the
	 * message is refused.
	 */
	place?(): Promise<void>;
}

/** What came of the changes, in their order. */
export type Effects = Pick<ApplyContext, 'results' | 'stepReports' | 'instances'>;

/** A delivery whose parts are applied or refused each by itself (a Bundle of type batch), and how their replies become one. */
export interface PartedInterpretation<Answer = AnswerOf<DeliveryKind>> {
	parts: readonly Interpretation<Answer>[];
	join(replies: readonly Reply<Answer>[]): Reply<Answer>;
}

/** Reads one delivery. Never throws: what cannot be read is a refusal. */
export type Interpret = (delivery: Delivery) => Interpretation | PartedInterpretation;
