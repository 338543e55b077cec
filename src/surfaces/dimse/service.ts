import type { AssociationGrant } from '#access/directory.ts';
import type { TraceIds } from '#record/trace-ids.ts';
import type { CommandSet, DimseResponse, Operation, OutgoingRequest } from './command-set.ts';

/** A request whose command set is read. Its data set, if any, is still to come. */
export interface DimseRequest {
	command: CommandSet;
	/** Abstract syntax of the presentation context. */
	abstractSyntax: string;
	transferSyntax: string;
	grant: AssociationGrant;
	callingAe: string;
	calledAe: string;
	address: string;
	/** The result of the SOP class extended negotiation; empty when nothing was agreed. */
	extension: Buffer;
	/** Set when the request is traced. */
	trace?: TraceIds | undefined;
}

/** A data set that is known to be readable, because its first piece was read. */
export interface OpenedDataSet {
	pieces: AsyncIterable<Uint8Array>;
	/** May be called whether or not the data set was read to its end. */
	close(): Promise<void>;
}

/** An instance on its way to somebody. */
export interface OutgoingInstance {
	sopClassUid: string;
	sopInstanceUid: string;
	/** The transfer syntax in which the data set is stored. */
	transferSyntaxUid: string;
	/** Opens the data set in the transfer syntax in which it is sent. Rejects when it cannot be read, or not be converted. */
	open(transferSyntaxUid: string): Promise<OpenedDataSet>;
}

/** The exchange of a request that is answered more than once and may be cancelled meanwhile. */
export interface Exchange {
	/** True after C-CANCEL or the end of the association. */
	readonly cancelled: boolean;
	/** Aborted when the association is over. */
	readonly ended: AbortSignal;
	/** Sends a response before the last. Resolves when the peer has read enough of what was sent. */
	respond(response: DimseResponse): Promise<void>;
	/**
	 * Sends a C-STORE sub-operation over the same association and returns its status. Returns undefined when no presentation context takes
	 * the instance, or when the association is over. Rejects when the instance cannot be read; if part of it was sent, the
	 * association ends.
	 */
	store(instance: OutgoingInstance): Promise<number | undefined>;
}

interface DataSetReception {
	/** Takes a piece of the data set and does not keep it. If it returns a promise, read no more before that resolves. Never rejects. */
	write(chunk: Buffer): Promise<void> | undefined;
	/** Never rejects. */
	abandon(): Promise<void>;
	/**
	 * Called when the response was sent, or when nobody is left to receive it. The channel can send more while the association lasts. Never
	 * throws.
	 */
	answered?(channel: ReturnChannel): void;
}

/** The association of a request, for a request in the other direction. */
export interface ReturnChannel {
	transferSyntax: string;
	/**
	 * Returns the status of the request. Returns undefined when it is too long, a query or retrieval is under way, the association ended, or
	 * the peer did not answer in time. Never rejects.
	 */
	request(request: OutgoingRequest, dataSet: Buffer): Promise<number | undefined>;
}

/** A request under way. Either `finish` or `abandon` ends it. */
export interface Reception extends DataSetReception {
	/** Called when the data set was received whole, or when there is none. */
	finish(): Promise<DimseResponse>;
}

/** A request with several responses. Either `converse` or `abandon` ends it. */
export interface ConversingReception extends DataSetReception {
	/** Called when the data set was received whole, or when there is none. Returns the last response. */
	converse(exchange: Exchange): Promise<DimseResponse>;
}

export type Begin = (request: DimseRequest) => Reception | ConversingReception;

/** SOP classes that are served in the same way, with their operations. */
export interface ServiceClass {
	includes(sopClassUid: string): boolean;
	/** Chooses among valid UIDs in the order of the proposal; returns undefined when none can be used. */
	chooseTransferSyntax(proposed: readonly string[]): string | undefined;
	operations: ReadonlyMap<Operation, Begin>;
	/** The right that a client needs. Without it the presentation context is rejected. */
	needs?: 'query';
	/** True when instances may be sent back over the association, with the requestor as SCP, if the client may query. */
	sendsBack?: boolean;
	/** Answers an extended negotiation. */
	extend?(proposed: Buffer): Buffer;
}

/** Answers at once. The data set is skipped. */
export function answerAtOnce(response: DimseResponse): Reception {
	return { write: () => undefined, finish: () => Promise.resolve(response), abandon: () => Promise.resolve() };
}
