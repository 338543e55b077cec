import { newId } from '#core/id.ts';
import { DataSetError } from '#dicom/fault.ts';
import { jsonModelOf } from '#dicom/json-model.ts';
import { procedureStepVrOf } from '#dicom/procedure-step-elements.ts';
import { isUid } from '#dicom/uid.ts';
import { type DimseResponse, statuses } from './command-set.ts';
import type { DimseContext, ProcedureStepRequest } from './context.ts';
import { Gathering } from './gathering.ts';
import { answerAtOnce, type DimseRequest, type Reception, type ServiceClass } from './service.ts';

/** Explicit VR, which keeps the VR of private elements, before implicit; any of these is read. */
const readable = ['1.2.840.10008.1.2.1', '1.2.840.10008.1.2', '1.2.840.10008.1.2.2'];
const depthMax = 16;

/** PS3.5 §B.2: a UID from a UUID. */
function newUid(): string {
	return `2.25.${BigInt(`0x${newId().replaceAll('-', '')}`)}`;
}

type Perform = (request: ProcedureStepRequest) => Promise<DimseResponse>;

/** The attribute list is small and held in memory, up to its limit. */
class AttributeListReception implements Reception {
	readonly #dataSet: Gathering;
	readonly #perform: (dataSet: Buffer) => Promise<DimseResponse>;
	#tooLong = false;

	constructor(bytesMax: number, perform: (dataSet: Buffer) => Promise<DimseResponse>) {
		this.#dataSet = new Gathering(bytesMax);
		this.#perform = perform;
	}

	write(chunk: Buffer): undefined {
		this.#tooLong ||= !this.#dataSet.add(chunk);
	}

	finish(): Promise<DimseResponse> {
		if (this.#tooLong) return Promise.resolve({ status: statuses.resourceLimitation, comment: 'the attribute list is too long' });
		return this.#perform(this.#dataSet.take());
	}

	async abandon(): Promise<void> {
		this.#dataSet.take();
	}
}

function begin(context: DimseContext, request: DimseRequest, sopInstanceUid: string | undefined, perform: Perform): Reception {
	const { command, abstractSyntax, transferSyntax, grant, address } = request;
	if (command.sopClassUid !== abstractSyntax)
		return answerAtOnce({ status: statuses.sopClassNotSupported, comment: 'not of this presentation context' });
	if (sopInstanceUid === undefined || !isUid(sopInstanceUid)) return answerAtOnce({ status: statuses.invalidSopInstance });
	if (!command.hasDataSet) return answerAtOnce({ status: statuses.mistypedArgument, comment: 'no attribute list' });
	const { siteId, siteSlug, clientId } = grant;
	const bytesMax = context.limits.dimseDataSetBytesMax;
	return new AttributeListReception(bytesMax, async (dataSet) => {
		try {
			const attributes = jsonModelOf(dataSet, transferSyntax, procedureStepVrOf, { bytesMax, depthMax });
			return { ...(await perform({ siteId, siteSlug, clientId, source: address, sopInstanceUid, attributes })), sopInstanceUid };
		} catch (error) {
			if (error instanceof DataSetError) return { status: statuses.processingFailure, comment: error.fault.text, sopInstanceUid };
			context.log.error({ err: error, site: siteSlug }, 'a procedure step could not be kept');
			return { status: statuses.processingFailure, comment: 'the service is not available, send again', sopInstanceUid };
		}
	});
}

/** Modality Performed Procedure Step (PS3.4 §F.7): N-CREATE and N-SET. */
export function procedureStep(context: DimseContext): ServiceClass {
	const { procedureSteps } = context;
	return {
		includes: (sopClassUid) => sopClassUid === '1.2.840.10008.3.1.2.3.3',
		chooseTransferSyntax: (proposed) => readable.find((uid) => proposed.includes(uid)),
		operations: new Map([
			// PS3.7 §10.1.5.1.3: without a UID the SCP makes one.
			['N-CREATE', (request) => begin(context, request, request.command.sopInstanceUid || newUid(), (step) => procedureSteps.create(step))],
			['N-SET', (request) => begin(context, request, request.command.sopInstanceUid, (step) => procedureSteps.set(step))],
		]),
	};
}
