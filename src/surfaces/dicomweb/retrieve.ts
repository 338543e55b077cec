import { retrievalKinds } from '#imaging/search.ts';
import type { HttpAnswer, HttpRequest } from '../http/message.ts';
import type { DicomWebContext } from './context.ts';
import { type FoundInstances, findInstances, nothing, retrievedBy } from './instances.ts';
import { type AnswerPart, partsAnswer } from './multipart-writer.ts';
import { packingOf } from './negotiation.ts';
import { baseOf, instanceUrl } from './urls.ts';

/**
 * Retrieves a study, series or instance as DICOM files (WADO-RS, PS3.18 §10.4), byte for byte as they are stored.
 * @throws Failure `not-found`, `not-acceptable`, `unavailable`
 */
export async function retrieve(context: DicomWebContext, request: HttpRequest): Promise<HttpAnswer> {
	const retrieved = retrievedBy(context, request);
	const kinds = await retrievalKinds(context.reader, retrieved.siteId, retrieved.clauses);
	if (kinds.length === 0) throw nothing();
	const transferSyntaxes = kinds.map(({ transferSyntaxUid }) => transferSyntaxUid);
	const packing = packingOf(request, { mediaTypes: ['application/dicom'], transferSyntaxes, isOne: retrieved.isInstance });
	return partsAnswer(packing, files(context, baseOf(request), await findInstances(context, retrieved)));
}

async function* files(context: DicomWebContext, base: string, { all }: FoundInstances): AsyncGenerator<AnswerPart> {
	for await (const instance of all) {
		const { transferSyntaxUid, objectKey } = instance;
		let outcome: 'success' | 'abandoned' = 'abandoned';
		try {
			yield { transferSyntaxUid, location: instanceUrl(base, instance), bytes: context.objects.read(objectKey) };
			outcome = 'success';
		} finally {
			context.metrics.dicomWebInstances.inc({ operation: 'retrieve', outcome });
		}
	}
}
