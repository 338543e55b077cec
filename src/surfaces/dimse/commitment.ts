import { commitmentTransferSyntaxes, readCommitmentRequest } from '#dicom/commitment.ts';
import { JsonModelReader } from '#dicom/json-model.ts';
import { settingOf } from '#record/settings/settings.ts';
import { type DimseResponse, statuses } from './command-set.ts';
import type { DimseContext } from './context.ts';
import { answerAtOnce, type DimseRequest, type Reception, type ReturnChannel, type ServiceClass } from './service.ts';

export const commitmentClass = '1.2.840.10008.1.20.1';
export const commitmentInstance = '1.2.840.10008.1.20.1.1';
/** Request Storage Commitment (PS3.4 §J.3.2). */
const requestAction = 1;

/** Converts the action information to JSON while it arrives, up to its limit. */
class CommitmentReception implements Reception {
	readonly #context: DimseContext;
	readonly #request: DimseRequest;
	readonly #reader: JsonModelReader;
	#bytes = 0;
	#report: ((channel: ReturnChannel) => void) | undefined;

	constructor(context: DimseContext, request: DimseRequest) {
		this.#context = context;
		this.#request = request;
		const bytesMax = context.limits.dimseDataSetBytesMax;
		this.#reader = new JsonModelReader(request.transferSyntax, { bytesMax, inlineBytesMax: 0, bulkDataUri: () => undefined });
	}

	write(chunk: Buffer): undefined {
		this.#bytes += chunk.length;
		if (this.#bytes <= this.#context.limits.dimseDataSetBytesMax) this.#reader.feed(chunk);
	}

	async finish(): Promise<DimseResponse> {
		const response = await this.#note();
		if (response.status !== statuses.success) this.#context.metrics.commitmentRequests.inc({ outcome: 'refused' });
		return response;
	}

	async #note(): Promise<DimseResponse> {
		const { limits, commitment, log } = this.#context;
		if (this.#bytes > limits.dimseDataSetBytesMax) return { status: statuses.resourceLimitation, comment: 'the request is too long' };
		const result = this.#reader.end();
		if ('fault' in result) return { status: statuses.processingFailure, comment: result.fault.text };
		const read = readCommitmentRequest(result.json);
		if (typeof read === 'string') return { status: statuses.invalidArgumentValue, comment: read };
		if (read.references.length > limits.commitmentReferencesMax)
			return { status: statuses.resourceLimitation, comment: 'too many referenced instances' };
		const { grant, callingAe, calledAe, address } = this.#request;
		try {
			this.#report = await commitment.note({ siteId: grant.siteId, callingAe, calledAe, source: address, ...read });
			return { status: statuses.success };
		} catch (error) {
			log.error({ err: error, site: grant.siteSlug }, 'a request for storage commitment could not be noted');
			return { status: statuses.processingFailure, comment: 'the service is not available, send again' };
		}
	}

	answered(channel: ReturnChannel): void {
		this.#report?.(channel);
	}

	abandon(): Promise<void> {
		return Promise.resolve();
	}
}

function begin(context: DimseContext, request: DimseRequest): Reception {
	const { command, abstractSyntax, grant } = request;
	const refuse = (status: number, comment?: string) => {
		context.metrics.commitmentRequests.inc({ outcome: 'refused' });
		return answerAtOnce({ status, comment });
	};
	// What is noted while the site moves to another database would be reported by nobody.
	if (settingOf(grant.settings, 'paused')) return refuse(statuses.resourceLimitation, 'this sender is paused, send again later');
	if (command.sopClassUid !== abstractSyntax) return refuse(statuses.sopClassNotSupported, 'not of this presentation context');
	if (command.sopInstanceUid !== commitmentInstance) return refuse(statuses.noSuchSopInstance);
	if (command.actionTypeId !== requestAction) return refuse(statuses.noSuchActionType);
	if (!command.hasDataSet) return refuse(statuses.invalidArgumentValue, 'no action information');
	return new CommitmentReception(context, request);
}

/** Serves the Storage Commitment Push Model (PS3.4 annex J) as SCP. */
export function commitment(context: DimseContext): ServiceClass {
	return {
		includes: (sopClassUid) => sopClassUid === commitmentClass,
		chooseTransferSyntax: (proposed) => commitmentTransferSyntaxes.find((uid) => proposed.includes(uid)),
		operations: new Map([['N-ACTION', (request) => begin(context, request)]]),
	};
}
