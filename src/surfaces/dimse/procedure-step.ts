import { newId } from '#core/id.ts';
import type { JsonObject } from '#core/json.ts';
import { JsonModelReader } from '#dicom/json-model.ts';
import type { ProcedureStepRequest } from '#mpps/procedure-steps.ts';
import { settingOf } from '#record/settings/settings.ts';
import { isUid } from '#record/uid.ts';
import { type DimseResponse, statuses } from './command-set.ts';
import type { DimseContext } from './context.ts';
import { answerAtOnce, type DimseRequest, type Reception, type ServiceClass } from './service.ts';

/** Explicit VR comes before implicit, because it keeps the VR of private elements. Any of these can be read. */
const readable = ['1.2.840.10008.1.2.1', '1.2.840.10008.1.2', '1.2.840.10008.1.2.2', '1.2.840.10008.1.2.1.99'];

/** Makes a UID from a UUID (PS3.5 §B.2). */
function newUid(): string {
	return `2.25.${BigInt(`0x${newId().replaceAll('-', '')}`)}`;
}

type Perform = (request: ProcedureStepRequest) => Promise<DimseResponse>;

/** Converts the attribute list to JSON while it arrives, up to its limit. */
class AttributeListReception implements Reception {
	readonly #bytesMax: number;
	readonly #reader: JsonModelReader;
	readonly #perform: (attributes: JsonObject) => Promise<DimseResponse>;
	#bytes = 0;

	constructor(transferSyntax: string, bytesMax: number, perform: (attributes: JsonObject) => Promise<DimseResponse>) {
		this.#bytesMax = bytesMax;
		this.#reader = new JsonModelReader(transferSyntax, {
			bytesMax,
			inlineBytesMax: bytesMax,
			bulkDataUri: () => undefined,
			keepsDigits: true,
		});
		this.#perform = perform;
	}

	write(chunk: Buffer): undefined {
		this.#bytes += chunk.length;
		if (this.#bytes <= this.#bytesMax) this.#reader.feed(chunk);
	}

	async finish(): Promise<DimseResponse> {
		if (this.#bytes > this.#bytesMax) return { status: statuses.resourceLimitation, comment: 'the attribute list is too long' };
		const read = this.#reader.end();
		if ('fault' in read) return { status: statuses.processingFailure, comment: read.fault.text };
		return this.#perform(read.json as JsonObject);
	}

	abandon(): Promise<void> {
		return Promise.resolve();
	}
}

function begin(context: DimseContext, request: DimseRequest, sopInstanceUid: string | undefined, perform: Perform): Reception {
	const { command, abstractSyntax, transferSyntax, grant, address, trace } = request;
	if (command.sopClassUid !== abstractSyntax)
		return answerAtOnce({ status: statuses.sopClassNotSupported, comment: 'not of this presentation context' });
	if (sopInstanceUid === undefined || !isUid(sopInstanceUid, settingOf(grant.settings, 'uids')))
		return answerAtOnce({ status: statuses.invalidSopInstance });
	if (!command.hasDataSet) return answerAtOnce({ status: statuses.mistypedArgument, comment: 'no attribute list' });
	const { siteId, siteSlug, clientId, settings } = grant;
	return new AttributeListReception(transferSyntax, context.limits.dimseDataSetBytesMax, async (attributes) => {
		try {
			return {
				...(await perform({ siteId, siteSlug, clientId, settings, source: address, sopInstanceUid, attributes, ...(trace && { trace }) })),
				sopInstanceUid,
			};
		} catch (error) {
			context.log.error({ err: error, site: siteSlug, ...trace }, 'a procedure step could not be kept');
			return { status: statuses.processingFailure, comment: 'the service is not available, send again', sopInstanceUid };
		}
	});
}

/** Serves Modality Performed Procedure Step (PS3.4 §F.7): N-CREATE and N-SET. */
export function procedureStep(context: DimseContext): ServiceClass {
	const { procedureSteps } = context;
	return {
		includes: (sopClassUid) => sopClassUid === '1.2.840.10008.3.1.2.3.3',
		chooseTransferSyntax: (proposed) => readable.find((uid) => proposed.includes(uid)),
		operations: new Map([
			// Without a UID in the request the SCP makes one (PS3.7 §10.1.5.1.3).
			['N-CREATE', (request) => begin(context, request, request.command.sopInstanceUid || newUid(), (step) => procedureSteps.create(step))],
			['N-SET', (request) => begin(context, request, request.command.sopInstanceUid, (step) => procedureSteps.set(step))],
		]),
	};
}
