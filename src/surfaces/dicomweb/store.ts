import type { KeyGrant } from '#access/directory.ts';
import { Failure } from '#core/failure.ts';
import { PartReception } from '#imaging/part-reception.ts';
import { failedPart, failureReasons, type PartResult } from '#imaging/store-reasons.ts';
import { requireScope } from '#record/scopes.ts';
import { settingOf } from '#record/settings/settings.ts';
import { isUid } from '#record/uid.ts';
import { authorize } from '../http/authorize.ts';
import { refusePaused } from '../http/deliver.ts';
import { parseMediaType, refuseEncoding } from '../http/media-type.ts';
import type { HttpAnswer, StreamedRequest } from '../http/message.ts';
import type { DicomWebContext } from './context.ts';
import { boundaryFault, gathered, type MultipartEvent, MultipartParser } from './multipart-reader.ts';
import { jsonType } from './negotiation.ts';
import { storeAnswer } from './store-answer.ts';
import { baseOf } from './urls.ts';

/** The largest number of received parts of one request that may wait for their fsync and their row in the index. */
const finishingMax = 8;

/**
 * Stores instances (STOW-RS, PS3.18 §10.5): `POST /studies`, `POST /studies/{study}`. Each part goes to the store while it arrives and is
 * accepted or refused by itself; the answer lists all of them.
 * @throws Failure when this is no store request, or when the body breaks off; parts stored before stay stored
 */
export async function store(context: DicomWebContext, request: StreamedRequest): Promise<HttpAnswer> {
	const { settings } = await storing(context, request);
	const mediaType = jsonType(request);
	const studyUid = request.params['study'];
	if (studyUid !== undefined && !isUid(studyUid, settingOf(settings, 'uids')))
		throw new Failure('invalid', 'the study in the URL is not a UID');
	const events = eventsOf(request);
	const results = await receive(context, request, studyUid, events);
	if (results.length === 0) throw new Failure('invalid', 'the multipart body has no parts');
	return storeAnswer(baseOf(request), mediaType, results);
}

async function storing(context: DicomWebContext, request: StreamedRequest): Promise<KeyGrant> {
	const grant = await authorize(context, request);
	requireScope(grant.scopes, 'ImagingStudy', 'c');
	refusePaused(grant);
	return grant;
}

const dicom = 'application/dicom';

/** @throws Failure `unsupported-media-type`, `invalid` */
function eventsOf(request: StreamedRequest): AsyncIterable<MultipartEvent> {
	const { name, parameters } = parseMediaType(request.header('content-type'));
	refuseEncoding(request);
	if (name === dicom) return single(request.body);
	if (name !== 'multipart/related') throw new Failure('unsupported-media-type', `Content-Type must be multipart/related; type="${dicom}"`);
	const type = parameters['type'] ?? dicom;
	if (type.toLowerCase() !== dicom)
		throw new Failure('unsupported-media-type', `instances must be sent as ${dicom}, not as metadata and bulk data`);
	const boundary = parameters['boundary'] ?? '';
	const fault = boundaryFault(boundary);
	if (fault !== undefined) throw new Failure('invalid', fault);
	return multipart(request.body, boundary);
}

async function* single(body: AsyncIterable<Uint8Array>): AsyncGenerator<MultipartEvent> {
	yield { kind: 'part', headers: new Map([['content-type', dicom]]) };
	for await (const chunk of gathered(body)) yield { kind: 'data', bytes: Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength) };
	yield { kind: 'end' };
}

async function* multipart(body: AsyncIterable<Uint8Array>, boundary: string): AsyncGenerator<MultipartEvent> {
	const parser = new MultipartParser(boundary);
	for await (const chunk of gathered(body)) yield* parser.push(chunk);
	parser.end();
}

async function receive(
	context: DicomWebContext,
	request: StreamedRequest,
	studyUid: string | undefined,
	events: AsyncIterable<MultipartEvent>,
): Promise<PartResult[]> {
	const { intake, limits } = context;
	const results: PartResult[] = [];
	const finishing = new Set<Promise<void>>();
	let count = 0;
	let part: PartReception | undefined;
	try {
		for await (const event of events) {
			if (event.kind === 'part') {
				if (count === limits.stowInstancesMax) throw new Failure('too-large', `more than ${count} instances in one request`);
				// The key is checked again, because it may have been revoked since the request began.
				const { siteId, keyId, settings } = await storing(context, request);
				const { trace } = request;
				part = isDicom(event.headers)
					? new PartReception({ intake, siteId, settings, source: keyId, studyUid, trace, bytesMax: limits.dimseObjectBytesMax })
					: undefined;
			} else if (event.kind === 'data') await part?.write(event.bytes);
			else {
				const at = count++;
				if (finishing.size >= finishingMax) await Promise.race(finishing);
				const settled: Promise<void> = settle(context, part).then((result) => {
					results[at] = result;
					finishing.delete(settled);
				});
				// A failure is reported below, where all parts are awaited.
				settled.catch(() => undefined);
				finishing.add(settled);
				part = undefined;
			}
		}
		await Promise.all(finishing);
	} catch (error) {
		if (part) context.metrics.dicomWebInstances.inc({ operation: 'store', outcome: 'abandoned' });
		await part?.abandon();
		throw error;
	} finally {
		await Promise.allSettled(finishing);
	}
	return results;
}

/** Tells whether a part is DICOM. A part without a type has the type that the request gives. */
function isDicom(headers: ReadonlyMap<string, string>): boolean {
	return (
		parseMediaType(headers.get('content-type') ?? dicom).name === dicom && (headers.get('content-encoding') ?? 'identity') === 'identity'
	);
}

const notDicom = failedPart(failureReasons.cannotUnderstand);

async function settle({ metrics }: DicomWebContext, part: PartReception | undefined): Promise<PartResult> {
	const result = await (part?.finish() ?? notDicom);
	const outcome = result.kind === 'failed' ? 'failure' : result.warningReason === undefined ? 'success' : 'warning';
	metrics.dicomWebInstances.inc({ operation: 'store', outcome });
	return result;
}
