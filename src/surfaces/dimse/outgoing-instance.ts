import type { Archive } from '#imaging/archive.ts';
import { checkConversion, transferable } from '#imaging/conversion.ts';
import type { RetrievableInstance } from '#record/imaging-query.ts';
import type { OutgoingRequest } from './command-set.ts';
import { contextFor } from './offered-syntaxes.ts';
import type { DimseAnswer, RequestedAssociation } from './requested-association.ts';
import type { OpenedDataSet, OutgoingInstance } from './service.ts';

/** Opens the data set and reads its first piece, so that an unreadable one is noticed before anything is sent. */
async function opened(dataSet: AsyncIterable<Uint8Array>): Promise<OpenedDataSet> {
	const iterator = dataSet[Symbol.asyncIterator]();
	let first: IteratorResult<Uint8Array> | undefined = await iterator.next();
	const next = () => {
		const result = first === undefined ? iterator.next() : Promise.resolve(first);
		first = undefined;
		return result;
	};
	return {
		pieces: { [Symbol.asyncIterator]: () => ({ next }) },
		close: async () => {
			await iterator.return?.();
		},
	};
}

/** An instance of the archive on its way to another application entity, in its own transfer syntax or converted into another. */
export function outgoing(archive: Pick<Archive, 'readDataSet'>, instance: RetrievableInstance): OutgoingInstance {
	const { sopClassUid, sopInstanceUid, transferSyntaxUid, objectKey } = instance;
	const open = async (wanted: string) => {
		// An instance that cannot be converted is a failed sub-operation, and not the end of the association.
		if (wanted !== transferSyntaxUid) await checkConversion(archive.readDataSet(objectKey), transferSyntaxUid, wanted);
		return opened(transferable(archive.readDataSet(objectKey), transferSyntaxUid, wanted));
	};
	return { sopClassUid, sopInstanceUid, transferSyntaxUid, open };
}

/**
 * Sends one instance by C-STORE. Returns undefined when the peer accepts this class in no transfer syntax in which it can be sent, or accepts
 * nothing more.
 */
export async function sendOver(
	association: RequestedAssociation,
	instance: OutgoingInstance,
	moveOriginator?: OutgoingRequest['moveOriginator'],
): Promise<DimseAnswer | undefined> {
	const { sopClassUid, sopInstanceUid, transferSyntaxUid } = instance;
	const context = contextFor(
		transferSyntaxUid,
		association.contexts.filter(({ abstractSyntax, scu }) => abstractSyntax === sopClassUid && scu),
	);
	if (context === undefined || !association.usable) return undefined;
	const { pieces, close } = await instance.open(context.transferSyntax);
	const request = { operation: 'C-STORE' as const, sopClassUid, sopInstanceUid, ...(moveOriginator && { moveOriginator }) };
	try {
		return await association.send(context, request, pieces);
	} finally {
		await close();
	}
}
