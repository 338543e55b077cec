import { Failure } from '#core/failure.ts';
import type { Identifier } from '#dicom/query/identifier.ts';
import { IdentifierReader } from '#dicom/query/identifier.ts';
import type { InformationModel } from '#dicom/query/information-model.ts';
import { MatchingError } from '#dicom/query/matching.ts';
import { explicitLittleEndian, implicitLittleEndian } from '#dicom/transfer-syntax.ts';
import type { QueryLevel } from '#record/imaging-query.ts';
import { type DimseResponse, statuses } from './command-set.ts';
import type { AnsweredQuery, DimseContext } from './context.ts';
import { answerAtOnce, type Begin, type ConversingReception, type DimseRequest, type Exchange, type ServiceClass } from './service.ts';

/** The operations that share a model: C-FIND, C-MOVE and C-GET (PS3.4 tables C.6.1.3-1 and C.6.2.3-1). */

type Operation = AnsweredQuery['operation'];

const sopClasses: Readonly<Record<Operation, Readonly<Record<string, InformationModel>>>> = {
	'C-FIND': { '1.2.840.10008.5.1.4.1.2.1.1': 'patient-root', '1.2.840.10008.5.1.4.1.2.2.1': 'study-root' },
	'C-MOVE': { '1.2.840.10008.5.1.4.1.2.1.2': 'patient-root', '1.2.840.10008.5.1.4.1.2.2.2': 'study-root' },
	'C-GET': { '1.2.840.10008.5.1.4.1.2.1.3': 'patient-root', '1.2.840.10008.5.1.4.1.2.2.3': 'study-root' },
};

/** A request whose identifier was read. */
export interface Inquiry {
	request: DimseRequest;
	model: InformationModel;
	identifier: Identifier;
}

/** The outcome of a request, for the last response and the audit trail. */
export interface Answer extends DimseResponse {
	level?: QueryLevel;
	matches?: number;
	/** The studies that were found or sent, for the audit trail. */
	studies?: ReadonlySet<string>;
}

export type Perform = (inquiry: Inquiry, exchange: Exchange) => Promise<Answer>;

class IdentifierReception implements ConversingReception {
	readonly #reader: IdentifierReader;
	readonly #bytesMax: number;
	readonly #perform: (read: ReturnType<IdentifierReader['end']> | undefined, exchange: Exchange) => Promise<DimseResponse>;
	#bytes = 0;

	constructor(
		transferSyntax: string,
		bytesMax: number,
		perform: (read: ReturnType<IdentifierReader['end']> | undefined, exchange: Exchange) => Promise<DimseResponse>,
	) {
		this.#reader = new IdentifierReader(transferSyntax, bytesMax);
		this.#bytesMax = bytesMax;
		this.#perform = perform;
	}

	write(chunk: Buffer): undefined {
		this.#bytes += chunk.length;
		if (this.#bytes <= this.#bytesMax) this.#reader.feed(chunk);
	}

	converse(exchange: Exchange): Promise<DimseResponse> {
		return this.#perform(this.#bytes <= this.#bytesMax ? this.#reader.end() : undefined, exchange);
	}

	abandon(): Promise<void> {
		return Promise.resolve();
	}
}

/** Carries out the work and answers failures that are no fault of this program with their status. */
async function attempt(
	context: DimseContext,
	operation: Operation,
	{ grant, trace }: DimseRequest,
	work: () => Promise<Answer>,
): Promise<Answer> {
	try {
		return await work();
	} catch (error) {
		if (error instanceof MatchingError) return { status: statuses.identifierDoesNotMatch, comment: error.message };
		context.log.error({ err: error, site: grant.siteSlug, ...trace }, 'a query or retrieval failed');
		if (!(error instanceof Failure) || error.code !== 'unavailable') {
			return { status: statuses.unableToProcess, comment: 'the service cannot answer this' };
		}
		// The identifier is right, and may be asked again (PS3.4 §C.4.1.1.4, C.4.2.1.5, C.4.3.1.4).
		const status = operation === 'C-FIND' ? statuses.outOfResources : statuses.matchesNotCounted;
		return { status, comment: 'the service is not available, ask again' };
	}
}

function begin(context: DimseContext, operation: Operation, perform: Perform): Begin {
	return (request) => {
		const { command, abstractSyntax, transferSyntax, grant, callingAe, address } = request;
		const model = sopClasses[operation][abstractSyntax];
		if (model === undefined || command.sopClassUid !== abstractSyntax)
			return answerAtOnce({ status: statuses.sopClassNotSupported, comment: 'not of this presentation context' });
		if (!command.hasDataSet) return answerAtOnce({ status: statuses.identifierDoesNotMatch, comment: 'no identifier' });
		const answerOf = async (read: ReturnType<IdentifierReader['end']> | undefined, exchange: Exchange): Promise<Answer> => {
			if (read === undefined) return { status: statuses.outOfResources, comment: 'the identifier is too long' };
			if ('fault' in read) return { status: statuses.unableToProcess, comment: read.fault.text };
			return attempt(context, operation, request, () => perform({ request, model, identifier: read }, exchange));
		};
		return new IdentifierReception(transferSyntax, context.limits.dimseDataSetBytesMax, async (read, exchange) => {
			const { level, matches, studies = [], ...response } = await answerOf(read, exchange);
			const { completed, failed } = response.subOperations ?? {};
			context.auditQuery({
				operation,
				siteId: grant.siteId,
				clientId: grant.clientId,
				callingAe,
				address,
				model,
				level,
				studies,
				settings: grant.settings,
				status: response.status,
				...(matches === undefined ? {} : { matches }),
				...(completed === undefined || failed === undefined ? {} : { completed, failed }),
				...(command.moveDestination === undefined ? {} : { destination: command.moveDestination }),
			});
			return response;
		});
	};
}

/** C-FIND defines this many bytes. Any further bytes that a peer proposes are not answered. */
const extensionBytes = 6;

/** Tells whether relational queries or retrievals were agreed (PS3.4 §C.5.1.1, C.5.2.1). */
export function isRelational(extension: Buffer): boolean {
	return extension[0] === 1;
}

/**
 * Returns one of the three services in both information models. `extensions` is the number of bytes of extended negotiation that this
 * side agrees to.
 */
export function queryRetrieve(context: DimseContext, operation: Operation, extensions: number, perform: Perform): ServiceClass {
	return {
		includes: (uid) => Object.hasOwn(sopClasses[operation], uid),
		// Identifiers are written in little endian.
		chooseTransferSyntax: (proposed) => [explicitLittleEndian, implicitLittleEndian].find((uid) => proposed.includes(uid)),
		operations: new Map([[operation, begin(context, operation, perform)]]),
		needs: 'query',
		extend: (proposed) =>
			Buffer.from(proposed.subarray(0, extensionBytes).map((byte, index) => (index < extensions && byte === 1 ? 1 : 0))),
	};
}
