import type { Failure } from '#core/failure.ts';
import type { ChangeSet } from '#record/change-set.ts';
import type { Delivery, Outcome } from '#record/delivery.ts';

/** A delivery as its format understood it, and how that format answers it. */
export interface Interpretation {
	messageType: string;
	/** What a redelivery is recognised by, with the sender and the bytes; empty when the message has none. */
	controlId: string;
	verdict: { kind: 'apply'; changeSet: ChangeSet } | { kind: 'ignore' } | { kind: 'refuse'; failure: Failure };
	/** Renders the acknowledgements for an outcome: none, one, or two in enhanced mode. */
	acknowledge(outcome: Outcome, failure: Failure | undefined): Uint8Array[];
}

/** Reads one delivery. Never throws: what cannot be read is a refusal. */
export type Interpret = (delivery: Delivery) => Interpretation;
