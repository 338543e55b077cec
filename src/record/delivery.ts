import type { FailureRecord } from '#core/failure.ts';
import type { Flag } from './change-set.ts';

export type DeliverySurface = 'mllp' | 'hl7-http' | 'replay';

/** What a sender's integration client allows beyond the specification; crosses the thread boundary. */
export interface Hl7v2Policy {
	/** Further events the client opted into: `A03`, … */
	also: readonly string[];
	/** Events that are acknowledged and otherwise ignored. */
	ignore: readonly string[];
	/** Enhanced acknowledgement mode (HL7 v2.5.1 §2.9.3): MSH-15/16 are honoured. */
	enhancedAck: boolean;
	/** The site's assigning authority for identifiers that name none; a FHIR system URI. */
	defaultAuthority: string | undefined;
}

/** One inbound message on its way to its site's mailbox and worker. */
export interface Delivery {
	/** The message's id in the message log; stays the same when a batch is tried again. */
	id: string;
	kind: 'hl7v2';
	siteId: string;
	/** Integration client; the nil id on HTTP. */
	clientId: string;
	surface: DeliverySurface;
	/** The sender's address, or the API key's public id on HTTP. */
	source: string;
	receivedAtMs: number;
	bytes: Uint8Array;
	policy: Hl7v2Policy;
	/** Set when processing it ended the worker twice: it is logged as refused and not looked at again. */
	withheld?: true;
	/** Set when an operator replays a logged message: the id of that message. */
	replayOf?: string;
}

/** `duplicate`: it was accepted before and is answered again, without effect. */
export type Outcome = 'accepted' | 'refused' | 'ignored' | 'duplicate';

/** What the sender is told; exists only after the transaction is committed. */
export interface Reply {
	id: string;
	outcome: Outcome;
	/** `ADT^A08`; empty when the message had none. */
	messageType: string;
	controlId: string;
	/** Rendered acknowledgements in the sender's character set, without MLLP framing: one, or 0–2 in enhanced mode. */
	acks: Uint8Array[];
	failure?: FailureRecord;
	flags: Flag[];
}
