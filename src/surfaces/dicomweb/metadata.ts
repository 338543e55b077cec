import { type DicomJson, JsonModelReader } from '#dicom/json-model.ts';
import type { RetrievableInstance } from '#record/imaging-query.ts';
import type { HttpAnswer, HttpRequest } from '../http/message.ts';
import type { DicomWebContext } from './context.ts';
import { findInstances, retrievedBy } from './instances.ts';
import { jsonType } from './media-type.ts';
import { StoredDataSet } from './stored-data-set.ts';
import { baseOf, instanceUrl } from './urls.ts';

/** Longer values are told where they can be had (PS3.18 §F.2.6). */
const inlineBytesMax = 1024;

/**
 * Metadata of a study, of a series or of an instance (PS3.18 §10.4.1.1.2): all elements of each data set up to its pixel data, in the
 * DICOM JSON Model.
 * @throws Failure `not-found`, `not-acceptable`, `unavailable`
 */
export async function metadata(context: DicomWebContext, request: HttpRequest): Promise<HttpAnswer> {
	const retrieved = retrievedBy(context, request);
	const mediaType = jsonType(request);
	const base = baseOf(request);
	const { first, all } = await findInstances(context, retrieved);
	// What cannot be read is told while there is still a status to tell it with.
	const firstJson = JSON.stringify(await metadataOf(context, base, first));
	return { status: 200, headers: { 'Content-Type': mediaType }, body: list(context, base, firstJson, all) };
}

async function* list(
	context: DicomWebContext,
	base: string,
	firstJson: string,
	all: AsyncIterable<RetrievableInstance>,
): AsyncGenerator<Uint8Array> {
	let isFirst = true;
	for await (const instance of all) {
		yield Buffer.from(isFirst ? `[${firstJson}` : `,${JSON.stringify(await metadataOf(context, base, instance))}`);
		isFirst = false;
	}
	yield Buffer.from(']');
}

/** Of a data set that is broken, or longer than the limit, what stands before that. */
async function metadataOf({ objects, limits, log }: DicomWebContext, base: string, instance: RetrievableInstance): Promise<DicomJson> {
	const url = instanceUrl(base, instance);
	const reader = new JsonModelReader(instance.transferSyntaxUid, {
		bytesMax: limits.dicomMetadataBytesMax,
		inlineBytesMax,
		bulkDataUri: (path) => `${url}/bulkdata/${path.replaceAll('/', '.')}`,
	});
	await new StoredDataSet(objects, instance).feed(reader);
	const result = reader.end();
	if ('fault' in result) log.warn({ object: instance.objectKey, fault: result.fault.text }, 'the metadata of an instance is not complete');
	const { transferSyntaxUid } = instance;
	return inOrder({ ...reader.json, '00083002': { vr: 'UI', Value: [transferSyntaxUid] } });
}

/** By tag (PS3.18 §F.2.2). */
function inOrder(json: DicomJson): DicomJson {
	return Object.fromEntries(Object.entries(json).sort(([left], [right]) => (left < right ? -1 : 1)));
}
