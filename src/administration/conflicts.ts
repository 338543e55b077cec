import { z } from 'zod';
import { Failure } from '#core/failure.ts';
import { newId, nilId } from '#core/id.ts';
import { readAttributes } from '#imaging/stored-attributes.ts';
import type { ConflictDelivery } from '#record/delivery.ts';
import type { ConflictDecision, InstanceAttributes, StoredInstance } from '#record/instance.ts';
import { isSameObject } from '#record/same-object.ts';
import { readSettings } from '#record/settings/settings.ts';
import { quarantineKey } from '#storage/objects/object-key.ts';
import { listConflicts as listStatement, showConflict as showStatement } from '#storage/statements/administrative/read-conflicts.ts';
import { AdministrationError, note, type OperationContext } from './context.ts';
import { instant, ofSite, page } from './schemas.ts';
import { SiteRecord } from './site-record.ts';
import { patientNames } from './studies.ts';
import { visibleSiteIds } from './visible-sites.ts';

export const listConflictsInput = z.strictObject({
	...ofSite,
	all: z.boolean().default(false).describe('also list settled conflicts'),
	...page(50),
});
export const settleConflictInput = z.strictObject({ id: z.string(), keep: z.enum(['stored', 'received', 'split']) });

export const conflictRecord = z.strictObject({
	id: z.uuid(),
	site: z.string(),
	sop_instance_uid: z.string(),
	kind: z
		.enum(['other-content', 'other-patient'])
		.describe('other content under a known SOP Instance UID, or an image that names another patient than its study'),
	study_uid: z.string().describe('Study Instance UID of the quarantined object'),
	stated_patient_id: z.string().nullable().describe('the Patient ID of an image that names another patient than its study'),
	stated_patient_name: z.string().nullable(),
	modality: z.string().describe('modalities of the study'),
	study_description: z.string(),
	study_patient: z.string().nullable().describe('id of the patient whose study it is'),
	study_patient_name: z.string().nullable().describe('null where the study has no patient'),
	bytes: z.number(),
	calling_ae: z.string(),
	source: z.string(),
	received_at: instant,
	settled_at: instant.nullable(),
	settlement: z
		.string()
		.nullable()
		.describe('stored or received: the object that a person kept; replaced or superseded: this object was the instance before'),
	settled_by: z.string().nullable(),
});
type ConflictRecord = z.infer<typeof conflictRecord>;

/** A row does not have the name of the patient, which is read from the record. */
type Row<T> = { [K in keyof Omit<T, 'study_patient_name'>]: K extends 'received_at' ? Date : K extends 'settled_at' ? Date | null : T[K] };

export interface ConflictRow extends Row<ConflictRecord> {
	site_id: string;
	site_settings: unknown;
	digest: string;
	object_key: string;
	/** Null when nothing is stored under the UID: the object was kept aside for its patient. */
	stored_digest: string | null;
	stored_bytes: number | null;
	stored_object_key: string | null;
	stored_calling_ae: string | null;
	stored_source: string | null;
	stored_at: Date | null;
}

/** While an instance is being answered, its object may still be moving into quarantine. */
const settlingMs = 300_000;

function record(
	{ id, site, sop_instance_uid, study_uid, bytes, calling_ae, source, ...row }: Row<ConflictRecord>,
	study_patient_name: string | null,
): ConflictRecord {
	const { kind, stated_patient_id, stated_patient_name, modality, study_description, study_patient } = row;
	return {
		...{ id, site, sop_instance_uid, kind, study_uid, stated_patient_id, stated_patient_name, modality, bytes, calling_ae, source },
		...{ study_description, study_patient, study_patient_name },
		received_at: row.received_at.toISOString(),
		settled_at: row.settled_at?.toISOString() ?? null,
		settlement: row.settlement,
		settled_by: row.settled_by,
	};
}

/** Lists conflicts that wait for a decision, newest first. */
export async function listConflicts(
	context: OperationContext,
	{ all, before, limit }: Omit<z.infer<typeof listConflictsInput>, 'site'>,
): Promise<ConflictRecord[]> {
	const values = [await visibleSiteIds(context), all, before ?? null, limit];
	return records(context, await context.database.rows<Found>(listStatement, values));
}

type Found = Row<ConflictRecord> & { site_id: string };

/** Names the patients of the studies. */
async function records(context: OperationContext, rows: readonly Found[]): Promise<ConflictRecord[]> {
	const names = new Map<string, string>();
	for (const siteId of new Set(rows.map(({ site_id }) => site_id))) {
		const patients = rows.flatMap(({ site_id, study_patient: patient }) => (site_id === siteId && patient !== null ? [patient] : []));
		for (const [id, name] of await patientNames(new SiteRecord(context, siteId), patients)) names.set(id, name);
	}
	return rows.map((row) => record(row, (row.study_patient && names.get(row.study_patient)) ?? null));
}

async function recordOf(context: OperationContext, row: ConflictRow): Promise<ConflictRecord> {
	const [named] = await records(context, [row]);
	return named ?? record(row, null);
}

export async function conflictRow({ database }: OperationContext, id: string): Promise<ConflictRow> {
	const [row] = z.uuid().safeParse(id).success ? await database.rows<ConflictRow>(showStatement, [id]) : [];
	if (row === undefined) throw new AdministrationError(`there is no conflict '${id}'`, 'not-found');
	return row;
}

/** Returns the key of a conflict's object in the object store. */
export async function placeOf({ objects }: OperationContext, key: string): Promise<string> {
	for (const place of [quarantineKey(key), key]) if ((await objects.size(place)) !== undefined) return place;
	throw new AdministrationError('the object of this conflict is not in the object store');
}

const side = z.strictObject({
	digest: z.string(),
	bytes: z.number(),
	calling_ae: z.string(),
	source: z.string(),
	at: instant,
	attributes: z
		.custom<InstanceAttributes>((value) => isRecord(value))
		.nullable()
		.meta({ type: 'object', description: 'what the data set contains; null if the object cannot be read' }),
});

export const wholeConflict = conflictRecord.extend({
	stored: side.nullable().describe('the object that is stored under the UID; null when the other one was kept aside for its patient'),
	received: side.describe('the object in quarantine'),
	differences: z
		.array(z.strictObject({ attribute: z.string(), stored: z.unknown(), received: z.unknown() }))
		.describe('attributes that differ; empty if the difference lies elsewhere, such as in the pixels'),
});
type WholeConflict = z.infer<typeof wholeConflict>;

/** Shows a conflict with the attributes of both objects. */
export async function showConflict(context: OperationContext, row: ConflictRow): Promise<WholeConflict> {
	await note(context, { action: 'conflict.read', subject: row.id, siteId: row.site_id, studies: [row.study_uid] });
	const stored = await storedSide(context, row);
	const received = await attributesOf(context, row.object_key);
	return {
		...(await recordOf(context, row)),
		stored,
		received: {
			...{ digest: row.digest, bytes: row.bytes, calling_ae: row.calling_ae, source: row.source },
			at: row.received_at.toISOString(),
			attributes: received,
		},
		differences: stored?.attributes && received ? differencesOf(stored.attributes, received) : [],
	};
}

async function storedSide(context: OperationContext, row: ConflictRow): Promise<WholeConflict['stored']> {
	if (row.stored_object_key === null) return null;
	return {
		...{ digest: row.stored_digest ?? '', bytes: row.stored_bytes ?? 0, calling_ae: row.stored_calling_ae ?? '' },
		...{ source: row.stored_source ?? '', at: row.stored_at?.toISOString() ?? '' },
		attributes: await attributesOf(context, row.stored_object_key),
	};
}

/** The conflict is shown even if an object is lost or damaged. */
async function attributesOf(context: OperationContext, key: string): Promise<InstanceAttributes | null> {
	try {
		return await readAttributes(context.objects, await placeOf(context, key), context);
	} catch (error) {
		if (error instanceof AdministrationError || (error instanceof Failure && error.code !== 'unavailable')) return null;
		throw error;
	}
}

function differencesOf(stored: object, received: object, path = ''): WholeConflict['differences'] {
	const names = new Set([...Object.keys(stored), ...Object.keys(received)]);
	return [...names].flatMap((name) => {
		const [left, right] = [stored, received].map((side) => (side as Record<string, unknown>)[name]);
		if (isRecord(left) && isRecord(right)) return differencesOf(left, right, `${path}${name}.`);
		if (JSON.stringify(left) === JSON.stringify(right)) return [];
		return [{ attribute: path + name, stored: left ?? null, received: right ?? null }];
	});
}

function isRecord(value: unknown): value is object {
	return typeof value === 'object' && value !== null;
}

export const settledRecord = conflictRecord.extend({
	put_aside: z.boolean().describe('false if the previous object is not in quarantine yet; doctor --objects --repair moves it'),
});
type SettledRecord = z.infer<typeof settledRecord>;

/**
 * Settles a conflict. With `split`, an image that names another patient than its study becomes part of a study of its own, with `received`
 * part of its study all the same. With `received` for other content, the quarantined object becomes the instance and the previous one goes into quarantine; a
 * settled conflict can be decided again this way. The object is moved to its key before the index names it, and the previous one is
 * moved away after the index has stopped naming it. If the process ends in between, the index still finds each object.
 * @throws AdministrationError if this cannot be done; nothing is changed then
 */
export async function settleConflict(
	context: OperationContext,
	input: z.infer<typeof settleConflictInput>,
	found?: ConflictRow,
): Promise<SettledRecord> {
	const row = found ?? (await conflictRow(context, input.id));
	if (input.keep === 'stored' && row.settled_at !== null) throw new AdministrationError('the conflict is already settled');
	const isSplit = input.keep === 'split';
	if (isSplit && row.kind !== 'other-patient')
		throw new AdministrationError('only an image that names another patient than its study can be split off');
	const received = input.keep === 'stored' ? undefined : await fetched(context, row);
	const superseded = await decided(context, row, { conflictId: row.id, by: context.actor.name, source: context.source, received, isSplit });
	const settled = await recordOf(context, await conflictRow(context, row.id));
	if (superseded === undefined) return { ...settled, put_aside: true };
	try {
		await context.objects.move(superseded, quarantineKey(superseded));
		return { ...settled, put_aside: true };
	} catch (error) {
		if (error instanceof Failure) return { ...settled, put_aside: false };
		throw error;
	}
}

/** Moves the object of a conflict to the key under which the index may name it. */
async function fetched(context: OperationContext, row: ConflictRow): Promise<StoredInstance> {
	const { digest, bytes, object_key: objectKey, calling_ae: callingAe, source } = row;
	if (row.stored_object_key !== null && isSameObject(row.stored_object_key, objectKey))
		throw new AdministrationError('the received object is already the instance');
	const place = await placeOf(context, objectKey);
	const changedMs = (row.settled_at ?? row.received_at).getTime();
	if (place === objectKey && context.nowMs() - changedMs < settlingMs)
		throw new AdministrationError('the object is still being moved into quarantine; try again in a few minutes');
	const attributes = await readAttributes(context.objects, place, context);
	if (place !== objectKey) await context.objects.move(place, objectKey);
	return { attributes, digest, bytes, objectKey, callingAe, source };
}

/** Writes in the site's turn, as every write does, and returns the key of the previous object. */
async function decided(context: OperationContext, row: ConflictRow, decision: ConflictDecision): Promise<string | undefined> {
	const receivedAtMs = context.nowMs();
	const delivery: ConflictDelivery = {
		id: newId(receivedAtMs),
		kind: 'conflict',
		siteId: row.site_id,
		clientId: nilId,
		surface: 'dimse',
		source: row.source,
		receivedAtMs,
		settings: readSettings(row.site_settings),
		bytes: Buffer.from(JSON.stringify(decision)),
	};
	const { answer } = await context.deliver(delivery);
	const { failure, superseded } = answer;
	if (failure) throw new AdministrationError(failure.diagnostics);
	return superseded;
}
