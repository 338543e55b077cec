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
}

/** A request under way. Either `finish` or `abandon` ends it. */
export interface Reception {
	/** A piece of the data set, which is taken over. A promise means: read no more before it resolves. Never rejects. */
	write(chunk: Buffer): Promise<void> | undefined;
	/** The data set was received whole, or there is none. */
	finish(): Promise<DimseResponse>;
	/** Never rejects. */
	abandon(): Promise<void>;
	/** The response went out, or nobody is there to hear it; the association, while it lasts, may be used to say more. Never throws. */
	answered?(channel: ReturnChannel): void;
}

/** The association that a request came over, for a request in the other direction. */
export interface ReturnChannel {
	transferSyntax: string;
	/** Its status. Undefined: too long, the association ended, or the peer did not answer in time. Never rejects. */
	request(request: OutgoingRequest, dataSet: Buffer): Promise<number | undefined>;
}

export type Begin = (request: DimseRequest) => Reception;

/** SOP classes that are served alike, with what can be asked of them. */
export interface ServiceClass {
	includes(sopClassUid: string): boolean;
	/** Of valid UIDs in the order of the proposal; undefined: none will do. */
	chooseTransferSyntax(proposed: readonly string[]): string | undefined;
	operations: ReadonlyMap<Operation, Begin>;
}

/** Answers without the data set, which is passed over. */
export function answerAtOnce(response: DimseResponse): Reception {
	return { write: () => undefined, finish: () => Promise.resolve(response), abandon: () => Promise.resolve() };
}
