/** Why an association that this side requested came to nothing, or came to its end. */
export type AssociationFailure =
	/** No connection: refused, no such host, TLS. */
	| 'unreachable'
	/** A-ASSOCIATE-RJ. */
	| 'rejected'
	/** Not one of the presentation contexts was accepted. */
	| 'no-context'
	/** No connection, no answer, or nothing taken of what was sent for too long. */
	| 'timeout'
	/** A-ABORT by the peer, or its connection was closed; also A-RELEASE while a request was under way. */
	| 'aborted'
	/** What the peer sent breaks the protocol. */
	| 'protocol'
	/** This side gave it up. */
	| 'cancelled';

/** The message names no more than the remote AE's title and the standard's words. */
export class AssociationError extends Error {
	override readonly name = 'AssociationError';
	readonly failure: AssociationFailure;
	/** A-ASSOCIATE-RJ with result 1: asking again is in vain. */
	readonly permanent: boolean;

	constructor(failure: AssociationFailure, message: string, options: { permanent?: boolean; cause?: unknown } = {}) {
		super(message, options.cause === undefined ? {} : { cause: options.cause });
		this.failure = failure;
		this.permanent = options.permanent ?? false;
	}
}

/** PS3.8 §9.3.4, by source and reason. */
const rejectionReasons: Readonly<Record<number, Readonly<Record<number, string>>>> = {
	1: {
		1: 'no-reason-given',
		2: 'application-context-name-not-supported',
		3: 'calling-AE-title-not-recognized',
		7: 'called-AE-title-not-recognized',
	},
	2: { 1: 'no-reason-given', 2: 'protocol-version-not-supported' },
	3: { 1: 'temporary-congestion', 2: 'local-limit-exceeded' },
};

/** @param body of an A-ASSOCIATE-RJ: four bytes */
export function rejectedBy(title: string, body: Buffer): AssociationError {
	const [, result, source, reason] = body;
	const means = rejectionReasons[source ?? 0]?.[reason ?? 0] ?? `source ${source}, reason ${reason}`;
	const permanent = result !== 2;
	return new AssociationError('rejected', `${title} rejected the association: ${means}${permanent ? '' : ', transient'}`, { permanent });
}
