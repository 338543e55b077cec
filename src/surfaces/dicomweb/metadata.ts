import { Failure } from '#core/failure.ts';
import { tooDeep } from '#dicom/fault.ts';
import { dicomJsonText, JsonModelReader } from '#dicom/json-model.ts';
import { StoredDataSet } from '#imaging/stored-data-set.ts';
import type { RetrievableInstance } from '#record/imaging-query.ts';
import type { HttpAnswer, HttpRequest } from '../http/message.ts';
import type { DicomWebContext } from './context.ts';
import { findInstances, retrievedBy } from './instances.ts';
import { jsonType } from './negotiation.ts';
import { baseOf, instanceUrl } from './urls.ts';

/** Longer values are given by reference, as a URL (PS3.18 §F.2.6). */
const inlineBytesMax = 1024;
const studyInstanceUid = '0020000D';

/**
 * Answers the metadata of a study, series or instance (PS3.18 §10.4.1.1.2): all elements of each data set up to its pixel data, in the
 * DICOM JSON Model.
 * @throws Failure `not-found`, `not-acceptable`, `unavailable`
 */
export async function metadata(context: DicomWebContext, request: HttpRequest): Promise<HttpAnswer> {
	const retrieved = await retrievedBy(context, request);
	const mediaType = jsonType(request);
	const base = baseOf(request);
	const { first, all } = await findInstances(context, retrieved);
	// An instance that cannot be read must be reported before the status is sent.
	const { text, isWhole } = await metadataOf(context, base, first);
	const warning = isWhole ? {} : { Warning: `299 ${base}: "The data set of an instance is broken; its metadata is not complete."` };
	return { status: 200, headers: { 'Content-Type': mediaType, ...warning }, body: list(context, base, text, all) };
}

async function* list(
	context: DicomWebContext,
	base: string,
	firstText: string,
	all: AsyncIterable<RetrievableInstance>,
): AsyncGenerator<Uint8Array> {
	let isFirst = true;
	for await (const instance of all) {
		yield Buffer.from(isFirst ? `[${firstText}` : `,${(await metadataOf(context, base, instance)).text}`);
		isFirst = false;
	}
	yield Buffer.from(']');
}

interface Metadata {
	text: string;
	isWhole: boolean;
}

/**
 * The metadata of a broken data set consists of the elements before the fault.
 * @throws Failure `not-acceptable` above the limit, because nobody would notice that elements were left out
 */
async function metadataOf({ objects, limits, log }: DicomWebContext, base: string, instance: RetrievableInstance): Promise<Metadata> {
	const url = instanceUrl(base, instance);
	const reader = new JsonModelReader(instance.transferSyntaxUid, {
		bytesMax: limits.dicomMetadataBytesMax,
		inlineBytesMax,
		bulkDataUri: (path) => `${url}/bulkdata/${path.replaceAll('/', '.')}`,
	});
	await new StoredDataSet(objects, instance).feed(reader);
	const result = reader.end();
	const fault = 'fault' in result ? result.fault : undefined;
	if (fault?.kind === 'too-large') {
		const why = fault.text === tooDeep ? `cannot be read: ${tooDeep}` : `is longer than ${limits.dicomMetadataBytesMax} bytes`;
		throw new Failure('not-acceptable', `the metadata of an instance ${why}; it can be retrieved whole`);
	}
	if (fault) log.warn({ object: instance.objectKey, fault: fault.text }, 'the metadata of an instance is not complete');
	const { transferSyntaxUid, studyUid } = instance;
	// A viewer groups images by this element. An image that was filed under another study than its data set states is one of that study.
	const filed = reader.json[studyInstanceUid] === undefined ? {} : { [studyInstanceUid]: { vr: 'UI', Value: [studyUid] } };
	const text = dicomJsonText({ ...reader.json, ...filed, '00083002': { vr: 'UI', Value: [transferSyntaxUid] } });
	return { text, isWhole: fault === undefined };
}
