import type { AssociationGrant } from '#access/directory.ts';
import type { CommandSet, DimseResponse, Operation, OutgoingRequest } from './command-set.ts';

/** A request whose command set is read and whose data set, if it has one, is still to come. */
export interface DimseRequest {
	command: CommandSet;
	/** Of the presentation context. */
	abstractSyntax: string;
	transferSyntax: string;
	grant: AssociationGrant;
	callingAe: string;
	calledAe: string;
	address: string;
	/** What was agreed by SOP class extended negotiation; empty: nothing. */
	extension: Buffer;
}

/** A data set that can be read: its first piece was. */
export interface OpenedDataSet {
	pieces: AsyncIterable<Uint8Array>;
	/** Whether it was read to its end or not. */
	close(): Promise<void>;
}

/** An instance on its way to somebody. */
export interface OutgoingInstance {
	sopClassUid: string;
	sopInstanceUid: string;
	/** Of the data set as it is stored, and as it is sent. */
	transferSyntaxUid: string;
	/** Rejects when it cannot be read. */
	open(): Promise<OpenedDataSet>;
}

/** A request that is answered more than once, and may be cancelled meanwhile. */
export interface Exchange {
	/** C-CANCEL came, or the association is over. */
	readonly cancelled: boolean;
	/** Aborted when the association is over. */
	readonly ended: AbortSignal;
	/** A response before the last. Resolves when the peer has taken enough of what was sent. */
	respond(response: DimseResponse): Promise<void>;
	/**
	 * C-STORE sub-operation over the same association; its status. Undefined: no presentation context takes the instance as it is
	 * stored, or the association is over. Rejects when the instance cannot be read; what was begun to be sent ends the association.
	 */
	store(instance: OutgoingInstance): Promise<number | undefined>;
}

interface DataSetReception {
	/** A piece of the data set, which is not kept. A promise means: read no more before it resolves. Never rejects. */
	write(chunk: Buffer): Promise<void> | undefined;
	/** Never rejects. */
	abandon(): Promise<void>;
	/** The response went out, or nobody is there to hear it; the association, while it lasts, may be used to say more. Never throws. */
	answered?(channel: ReturnChannel): void;
}

/** The association that a request came over, for a request in the other direction. */
export interface ReturnChannel {
	transferSyntax: string;
	/** Its status. Undefined: too long, a query or retrieval is under way, the association ended, or the peer did not answer in time. Never rejects. */
	request(request: OutgoingRequest, dataSet: Buffer): Promise<number | undefined>;
}

/** A request under way. Either `finish` or `abandon` ends it. */
export interface Reception extends DataSetReception {
	/** The data set was received whole, or there is none. */
	finish(): Promise<DimseResponse>;
}

/** A request with several responses. Either `converse` or `abandon` ends it. */
export interface ConversingReception extends DataSetReception {
	/** The data set was received whole, or there is none; gives the last response. */
	converse(exchange: Exchange): Promise<DimseResponse>;
}

export type Begin = (request: DimseRequest) => Reception | ConversingReception;

/** SOP classes that are served alike, with what can be asked of them. */
export interface ServiceClass {
	includes(sopClassUid: string): boolean;
	/** Of valid UIDs in the order of the proposal; undefined: none will do. */
	chooseTransferSyntax(proposed: readonly string[]): string | undefined;
	operations: ReadonlyMap<Operation, Begin>;
	/** What a client must be granted; without it the presentation context is rejected. */
	needs?: 'query';
	/** Whether instances may be sent back over the association, with the requestor as SCP, where the client may query. */
	sendsBack?: boolean;
	/** The answer to an extended negotiation. */
	extend?(proposed: Buffer): Buffer;
}

/** Answers without the data set, which is passed over. */
export function answerAtOnce(response: DimseResponse): Reception {
	return { write: () => undefined, finish: () => Promise.resolve(response), abandon: () => Promise.resolve() };
}
