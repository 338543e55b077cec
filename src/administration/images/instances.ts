import { z } from 'zod';
import { Failure } from '#core/failure.ts';
import { TagReader } from '#dicom/tag-list.ts';
import { ImageReader } from '#imaging/image-description.ts';
import { findRetrievable, searchImaging } from '#imaging/search.ts';
import { type ReadObject, StoredDataSet } from '#imaging/stored-data-set.ts';
import type { ImagingClause, RetrievableInstance } from '#record/imaging-query.ts';
import { AdministrationError, note, type OperationContext } from '../context.ts';
import { siteBySlug } from '../sites.ts';
import { noteOnce } from './noted.ts';

const uid = z
	.string()
	.regex(/^[0-9]+(?:\.[0-9]+)*$/, 'a UID has digits and dots')
	.max(64);

export const listInstancesInput = z.strictObject({
	site: z.string(),
	study: uid.describe('Study Instance UID'),
	series: uid.describe('Series Instance UID'),
	after: uid.optional().describe('the SOP Instance UID at which the page before ended'),
	limit: z.coerce.number().int().min(1).max(1000).default(1000),
});

export const instanceRecord = z.strictObject({
	sop_instance_uid: z.string(),
	sop_class_uid: z.string(),
	transfer_syntax_uid: z.string(),
	number: z.number().int().nullable(),
	rows: z.number().int().nullable(),
	columns: z.number().int().nullable(),
	frames: z.number().int(),
});

const listed = [
	'SOPInstanceUID',
	'SOPClassUID',
	'AvailableTransferSyntaxUID',
	'InstanceNumber',
	'Rows',
	'Columns',
	'NumberOfFrames',
] as const;

/** Lists the instances of a series in the order of their UIDs. */
export async function listInstances(
	context: OperationContext,
	{ site, study, series, after, limit }: z.output<typeof listInstancesInput>,
): Promise<z.output<typeof instanceRecord>[]> {
	const { id: siteId } = await siteBySlug(context.em.fork(), site);
	const clauses = clausesOf({ study, series });
	const position = after === undefined ? undefined : [study, series, after];
	const query = { level: 'IMAGE' as const, clauses, attributes: listed, count: limit, after: position, offset: 0 };
	const { entities } = await searchImaging(context.reader, siteId, query);
	return entities.map((entity) => ({
		sop_instance_uid: entity.SOPInstanceUID ?? '',
		sop_class_uid: entity.SOPClassUID ?? '',
		transfer_syntax_uid: entity.AvailableTransferSyntaxUID ?? '',
		number: integer(entity.InstanceNumber),
		rows: integer(entity.Rows),
		columns: integer(entity.Columns),
		frames: integer(entity.NumberOfFrames) ?? 1,
	}));
}

const attributes = { study: 'StudyInstanceUID', series: 'SeriesInstanceUID', instance: 'SOPInstanceUID' } as const;

/** Selects the instances of the study, series and instance that an input names. */
export function clausesOf(named: { [Name in keyof typeof attributes]?: string | undefined }): ImagingClause[] {
	return Object.entries(attributes).flatMap(([name, attribute]): ImagingClause[] => {
		const value = named[name as keyof typeof attributes];
		return value === undefined ? [] : [{ kind: 'equals', attribute, values: [value] }];
	});
}

function integer(text: string | null | undefined): number | null {
	const value = Number(text ?? Number.NaN);
	return text !== '' && Number.isInteger(value) ? value : null;
}

export const namedInstance = z.strictObject({ site: z.string(), instance: uid.describe('SOP Instance UID') });

/** @throws AdministrationError `not-found` */
export async function instanceOf(
	context: OperationContext,
	{ site, instance }: z.output<typeof namedInstance>,
): Promise<RetrievableInstance & { siteId: string }> {
	const { id: siteId } = await siteBySlug(context.em.fork(), site);
	const { instances } = await findRetrievable(context.reader, siteId, clausesOf({ instance }), { count: 1, after: undefined });
	const [found] = instances;
	if (found === undefined) throw new AdministrationError(`there is no instance '${instance}'`, 'not-found', 'instance');
	return { ...found, siteId };
}

export const instanceTags = z.strictObject({
	study_uid: z.string(),
	series_uid: z.string(),
	transfer_syntax_uid: z.string(),
	tags: z.array(
		z.strictObject({
			path: z.string().describe('the tag in hexadecimal digits, behind the tags and item numbers that lead to it'),
			vr: z.string(),
			keyword: z.string().describe('of PS3.6; empty for private elements and those that DICOM does not know'),
			value: z.string().describe('values are parted by a backslash; of bytes, the first ones in hexadecimal digits'),
			length: z.number().int().nullable().describe('bytes of the value; null where a delimiter ends it'),
			cut: z.boolean().describe('the value is longer than what is shown'),
			creator: z.string().nullable().describe('who reserved the block of a private element; null for others'),
		}),
	),
	ends: z.string().nullable().describe('why the list ends before the pixel data; null if it does not'),
});

/** Lists the elements of an instance up to its pixel data. The audit trail records who read them. */
export async function showTags(context: OperationContext, input: z.output<typeof namedInstance>): Promise<z.output<typeof instanceTags>> {
	const found = await instanceOf(context, input);
	await note(context, { action: 'instance.read', subject: found.sopInstanceUid, siteId: found.siteId, studies: [found.studyUid] });
	const reader = new TagReader(found.transferSyntaxUid, context.headerBytesMax);
	await new StoredDataSet(context.objects, found).feed(reader);
	const { tags, fault, isFull } = reader.end();
	const ends = isFull ? `only the first ${tags.length} elements are shown` : (fault?.text ?? null);
	return { study_uid: found.studyUid, series_uid: found.seriesUid, transfer_syntax_uid: found.transferSyntaxUid, tags, ends };
}

const numbers = z.array(z.number()).nullable();
export const imageDescription = z.strictObject({
	sop_class_uid: z.string(),
	transfer_syntax_uid: z.string(),
	modality: z.string(),
	rows: z.number(),
	columns: z.number(),
	samples: z.number(),
	bits_allocated: z.number(),
	bits_stored: z.number(),
	signed: z.boolean(),
	planar: z.boolean(),
	photometric: z.string(),
	big_endian: z.boolean(),
	frames: z.number(),
	frame_ms: z.number().nullable(),
	instance_number: z.number().nullable(),
	palette: z.strictObject({ first: z.number(), red: z.string(), green: z.string(), blue: z.string() }).nullable(),
	tables: z.boolean().describe('it has a table in place of slope and intercept, or of a window'),
	values: z
		.array(
			z.strictObject({
				windows: z.array(z.strictObject({ center: z.number(), width: z.number(), name: z.string() })),
				...{ slope: z.number(), intercept: z.number(), unit: z.string() },
				...{ position: numbers, orientation: numbers, spacing: numbers },
			}),
		)
		.describe('one for each frame where they differ, else one for all'),
});

/** @throws AdministrationError for an object that is no image */
export async function describeObject(context: OperationContext, object: ReadObject): Promise<z.output<typeof imageDescription>> {
	const reader = new ImageReader(object.transferSyntaxUid, context.headerBytesMax);
	try {
		await new StoredDataSet(context.objects, object).feed(reader);
	} catch (error) {
		if (error instanceof Failure && error.code === 'not-found') throw new AdministrationError('the object is not in the object store');
		throw error;
	}
	const description = reader.end();
	if (description === undefined) throw new AdministrationError('the instance has no pixel data');
	return description;
}

/** Tells what is needed to show an image. */
export async function describeImage(
	context: OperationContext,
	input: z.output<typeof namedInstance>,
): Promise<z.output<typeof imageDescription>> {
	const found = await instanceOf(context, input);
	await noteOnce(context, { action: 'instance.view', subject: found.studyUid, siteId: found.siteId, studies: [found.studyUid] });
	return describeObject(context, found);
}
