import { z } from 'zod';
import { findRetrievable, retrievalKinds } from '#imaging/search.ts';
import type { ReadObject } from '#imaging/stored-data-set.ts';
import { StoredFrames } from '#imaging/stored-frames.ts';
import type { ImagingClause, RetrievableInstance } from '#record/imaging-query.ts';
import { AdministrationError, note, type OperationContext } from '../context.ts';
import type { FileContent } from '../file-content.ts';
import { siteBySlug } from '../sites.ts';
import { clausesOf, instanceOf, namedInstance } from './instances.ts';
import { noteOnce } from './noted.ts';
import { type ZipEntry, zipped } from './zip.ts';

const uid = namedInstance.shape.instance;
const dicom = 'application/dicom';

/** Gives an instance as the DICOM file that is stored. */
export async function downloadInstance(context: OperationContext, input: z.output<typeof namedInstance>): Promise<FileContent> {
	const found = await instanceOf(context, input);
	await refuseLost(context, found);
	await note(context, { action: 'instance.download', subject: found.sopInstanceUid, siteId: found.siteId, studies: [found.studyUid] });
	return { name: `${found.sopInstanceUid}.dcm`, contentType: dicom, bytes: context.objects.read(found.objectKey) };
}

/** Once a file has begun, nobody can be told that it is lost. */
async function refuseLost({ objects }: OperationContext, { objectKey }: ReadObject): Promise<void> {
	if ((await objects.size(objectKey)) === undefined) throw new AdministrationError('the object is not in the object store');
}

export const downloadStudyInput = z.strictObject({
	site: z.string(),
	study: uid.describe('Study Instance UID'),
	series: uid.optional().describe('Series Instance UID; without it, all series'),
});

/** The number of rows that are read at a time. */
const pageRows = 1000;

/** Gives a study or a series as a ZIP archive of the DICOM files that are stored: one folder for each series. */
export async function downloadStudy(
	context: OperationContext,
	{ site, study, series }: z.output<typeof downloadStudyInput>,
): Promise<FileContent> {
	const { id: siteId } = await siteBySlug(context.em.fork(), site);
	const clauses = clausesOf({ study, series });
	const kinds = await retrievalKinds(context.reader, siteId, clauses);
	const instances = kinds.reduce((sum, kind) => sum + kind.instances, 0);
	if (instances === 0) throw new AdministrationError(`there are no images of the study '${study}'`, 'not-found', 'study');
	const after = { instances, ...(series === undefined ? {} : { series }) };
	await note(context, { action: 'study.download', subject: study, siteId, after, studies: [study] });
	const at = new Date(context.nowMs());
	return {
		name: `${series === undefined ? `study-${study}` : `series-${series}`}.zip`,
		contentType: 'application/zip',
		bytes: zipped(entries(context, instancesOf(context, siteId, clauses)), at),
	};
}

/** Reads the instances that the clauses select, page by page. */
async function* instancesOf(
	{ reader }: OperationContext,
	siteId: string,
	clauses: readonly ImagingClause[],
): AsyncGenerator<RetrievableInstance> {
	let after: readonly string[] | undefined;
	do {
		const page = await findRetrievable(reader, siteId, clauses, { count: pageRows, after });
		yield* page.instances;
		after = page.next;
	} while (after !== undefined);
}

async function* entries({ objects }: OperationContext, instances: AsyncIterable<RetrievableInstance>): AsyncGenerator<ZipEntry> {
	for await (const { seriesUid, sopInstanceUid, objectKey } of instances)
		yield { name: `${seriesUid}/${sopInstanceUid}.dcm`, read: () => objects.read(objectKey) };
}

export const namedFrame = z.strictObject({
	...namedInstance.shape,
	frame: z.coerce.number().int().min(1).max(1_000_000).describe('counted from 1'),
});

/** One for each object store of the process. */
const frames = new WeakMap<OperationContext['objects'], StoredFrames>();

/** The bytes of a frame as they are stored. */
export async function frameOf(context: OperationContext, object: ReadObject, number: number): Promise<FileContent> {
	const stored = frames.get(context.objects) ?? new StoredFrames(context.objects, context.headerBytesMax);
	frames.set(context.objects, stored);
	const { bytes } = await stored.frame(object, number);
	return { name: `frame-${number}.bin`, contentType: 'application/octet-stream', bytes };
}

/** Gives the pixel data of a frame as it is stored, which may be compressed. */
export async function frameOfInstance(context: OperationContext, input: z.output<typeof namedFrame>): Promise<FileContent> {
	const found = await instanceOf(context, input);
	await noteOnce(context, { action: 'instance.view', subject: found.studyUid, siteId: found.siteId, studies: [found.studyUid] });
	return frameOf(context, found, input.frame);
}
