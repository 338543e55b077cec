import { part10Head } from '#dicom/part10.ts';
import { convertible } from '#dicom/transfer-syntax.ts';
import { dataSetOf } from '#imaging/archive.ts';
import { checkConversion, converted } from '#imaging/conversion.ts';
import { retrievalKinds } from '#imaging/search.ts';
import type { RetrievableInstance } from '#record/imaging-query.ts';
import type { HttpAnswer, HttpRequest } from '../http/message.ts';
import type { DicomWebContext } from './context.ts';
import { type FoundInstances, findInstances, nothing, retrievedBy } from './instances.ts';
import { type AnswerPart, partsAnswer } from './multipart-writer.ts';
import { packingOf } from './negotiation.ts';
import { baseOf, instanceUrl } from './urls.ts';

/**
 * Retrieves a study, series or instance as DICOM files (WADO-RS, PS3.18 §10.4): byte for byte as they are stored, or converted into the
 * uncompressed transfer syntax that is asked for.
 * @throws Failure `not-found`, `not-acceptable`, `unavailable`
 */
export async function retrieve(context: DicomWebContext, request: HttpRequest): Promise<HttpAnswer> {
	const retrieved = await retrievedBy(context, request);
	const kinds = await retrievalKinds(context.currentReader, retrieved.siteId, retrieved.clauses);
	if (kinds.length === 0) throw nothing();
	const transferSyntaxes = kinds.map(({ transferSyntaxUid }) => transferSyntaxUid);
	const packing = packingOf(request, {
		mediaTypes: ['application/dicom'],
		transferSyntaxes,
		convertsTo: convertible,
		isOne: retrieved.isInstance,
	});
	const found = await findInstances(context, retrieved);
	const wanted = packing.transferSyntax;
	if (wanted !== undefined && wanted !== found.first.transferSyntaxUid) await checkFirst(context, found, wanted);
	return partsAnswer(packing, files(context, baseOf(request), found, wanted));
}

/** Reads the first instance, so that one that cannot be converted is a status and no broken answer. @throws Failure `not-acceptable` */
async function checkFirst({ objects }: DicomWebContext, { first }: FoundInstances, wanted: string): Promise<void> {
	await checkConversion(dataSetOf(objects, first.objectKey), first.transferSyntaxUid, wanted);
}

/** Returns the file as it is stored, or a head of its own before the converted data set. */
async function* fileOf({ objects }: DicomWebContext, instance: RetrievableInstance, wanted: string): AsyncGenerator<Uint8Array> {
	const { transferSyntaxUid, sopClassUid, sopInstanceUid, objectKey } = instance;
	if (wanted === transferSyntaxUid) {
		yield* objects.read(objectKey);
		return;
	}
	yield part10Head({ sopClassUid, sopInstanceUid, transferSyntaxUid: wanted });
	yield* converted(dataSetOf(objects, objectKey), transferSyntaxUid, wanted);
}

async function* files(
	context: DicomWebContext,
	base: string,
	{ all }: FoundInstances,
	wanted: string | undefined,
): AsyncGenerator<AnswerPart> {
	for await (const instance of all) {
		const transferSyntaxUid = wanted ?? instance.transferSyntaxUid;
		let outcome: 'success' | 'abandoned' = 'abandoned';
		try {
			yield { transferSyntaxUid, location: instanceUrl(base, instance), bytes: fileOf(context, instance, transferSyntaxUid) };
			outcome = 'success';
		} finally {
			context.metrics.dicomWebInstances.inc({ operation: 'retrieve', outcome });
		}
	}
}
