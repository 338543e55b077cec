import type { UsableContext } from './associate-proposal.ts';
import type { OutgoingRequest } from './command-set.ts';

export interface DimseAnswer {
	status: number;
	/** Error Comment (0000,0902). */
	comment: string | undefined;
}

/** An association that this side requests, with one request at a time. When it fails, every promise rejects with AssociationError. */
export interface RequestedAssociation {
	/** The contexts that the peer accepted, at least one. */
	readonly contexts: readonly UsableContext[];
	/** False when nothing more can be sent. */
	readonly usable: boolean;
	/** Resolves when the connection is gone. */
	readonly closed: Promise<void>;
	/**
	 * Sends a request and its data set no faster than the peer reads it. The data set is encoded in the context's transfer syntax.
	 * An error that the data set throws ends the association with an A-ABORT and is thrown on.
	 */
	send(context: UsableContext, request: OutgoingRequest, dataSet?: AsyncIterable<Uint8Array> | Iterable<Uint8Array>): Promise<DimseAnswer>;
	/** Releases the association. Never rejects; resolves when the connection is gone. */
	release(): Promise<void>;
	/** Sends A-ABORT. */
	abort(): void;
}
