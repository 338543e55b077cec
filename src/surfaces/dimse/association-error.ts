/** The reason why an association that this side requested was not established or ended. */
export type AssociationFailure =
	/** There is no connection: it was refused, the host is unknown, or TLS failed. */
	| 'unreachable'
	/** The peer answered A-ASSOCIATE-RJ. */
	| 'rejected'
	/** The peer accepted none of the presentation contexts. */
	| 'no-context'
	/** There was no connection or no answer in time, or the peer took nothing of what was sent. */
	| 'timeout'
	/** The peer sent A-ABORT or closed the connection, or sent A-RELEASE during a request. */
	| 'aborted'
	/** The peer broke the protocol. */
	| 'protocol'
	/** This side cancelled it. */
	| 'cancelled';

/** An association failed. The message contains only the title of the remote AE and the words of the standard. */
export class AssociationError extends Error {
	override readonly name = 'AssociationError';
	readonly failure: AssociationFailure;
	/** True after an A-ASSOCIATE-RJ with result 1: it is useless to ask again. */
	readonly permanent: boolean;

	constructor(failure: AssociationFailure, message: string, options: { permanent?: boolean; cause?: unknown } = {}) {
		super(message, options.cause === undefined ? {} : { cause: options.cause });
		this.failure = failure;
		this.permanent = options.permanent ?? false;
	}
}

/** Rejection reasons by source and reason (PS3.8 §9.3.4). */
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

/**
 * Returns the error for a rejection.
 * @param body of an A-ASSOCIATE-RJ: four bytes
 */
export function rejectedBy(title: string, body: Buffer): AssociationError {
	const [, result, source, reason] = body;
	const means = rejectionReasons[source ?? 0]?.[reason ?? 0] ?? `source ${source}, reason ${reason}`;
	const permanent = result !== 2;
	return new AssociationError('rejected', `${title} rejected the association: ${means}${permanent ? '' : ', transient'}`, { permanent });
}
