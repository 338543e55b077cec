import type { UsableContext } from './associate-proposal.ts';
import type { OutgoingRequest } from './command-set.ts';

export interface DimseAnswer {
	status: number;
	/** Error Comment (0000,0902). */
	comment: string | undefined;
}

/** An association of which this side is the requestor; one request at a time. When it fails, everything rejects with AssociationError. */
export interface RequestedAssociation {
	/** What the peer accepted, at least one. */
	readonly contexts: readonly UsableContext[];
	/** False: no more can be sent. */
	readonly usable: boolean;
	/** Resolves when the connection is gone. */
	readonly closed: Promise<void>;
	/**
	 * Sends a request and its data set, which is encoded as the context's transfer syntax says, no faster than the peer takes it.
	 * What the data set throws ends the association with an A-ABORT, and is thrown on.
	 */
	send(context: UsableContext, request: OutgoingRequest, dataSet?: AsyncIterable<Uint8Array> | Iterable<Uint8Array>): Promise<DimseAnswer>;
	/** Ends the association in good order. Never rejects; resolves when the connection is gone. */
	release(): Promise<void>;
	/** A-ABORT. */
	abort(): void;
}
