import { z } from 'zod';
import { isUuid, newId } from '#core/id.ts';
import { runInTransaction } from '#storage/entities/index.ts';
import { studyOfUid } from '#storage/statements/administrative/study-edits.ts';
import { addHold, holdById, liftHold, listHolds } from '#storage/statements/administrative/study-retention.ts';
import { AdministrationError, type AuditedChange, change, type OperationContext } from './context.ts';
import { instant, ofSite } from './schemas.ts';
import { SiteRecord } from './site-record.ts';
import { siteBySlug } from './sites.ts';
import { visibleSiteIds } from './visible-sites.ts';

const reason = z.string().trim().min(1).max(500);

export const addHoldInput = z.strictObject({
	site: z.string(),
	patient: z.string().optional().describe('id of the patient whose studies are kept'),
	study: z.string().max(64).optional().describe('Study Instance UID, or id of the ImagingStudy'),
	reason: reason.describe('why, without data of the patient: a file number'),
});
export const listHoldsInput = z.strictObject({ ...ofSite, all: z.boolean().default(false).describe('also list holds that were removed') });
export const removeHoldInput = z.strictObject({ id: z.uuid(), reason: reason.describe('why it no longer holds') });

export const holdRecord = z.strictObject({
	id: z.uuid(),
	site: z.string(),
	patient: z.string().nullable().describe('id of the patient'),
	study: z.string().nullable().describe('Study Instance UID'),
	reason: z.string(),
	placed_at: instant,
	placed_by: z.string(),
	lifted_at: instant.nullable(),
	lifted_by: z.string().nullable(),
});
type HoldRecord = z.infer<typeof holdRecord>;

interface HoldRow extends Omit<HoldRecord, 'placed_at' | 'lifted_at'> {
	site_id: string;
	patient_id: string | null;
	placed_at: Date;
	lifted_at: Date | null;
}

function record({ id, site, patient, study, reason: why, placed_at, placed_by, lifted_at, lifted_by }: HoldRow): HoldRecord {
	const placed = { placed_at: placed_at.toISOString(), placed_by };
	return { id, site, patient, study, reason: why, ...placed, lifted_at: lifted_at?.toISOString() ?? null, lifted_by };
}

async function holdRow(database: OperationContext['database'], id: string): Promise<HoldRow | undefined> {
	if (!isUuid(id)) return undefined;
	const [row] = await database.rows<HoldRow>(holdById, [id]);
	return row;
}

/** Returns the hold that an operation names, with its site; null if there is none. */
export async function findHold({ database }: OperationContext, { id }: { id: string }): Promise<{ site: string; found: HoldRow } | null> {
	const row = await holdRow(database, id);
	return row === undefined ? null : { site: row.site, found: row };
}

/** Places a hold. From its commit on nothing deletes what it keeps. */
export async function placeHold(context: OperationContext, input: z.infer<typeof addHoldInput>): Promise<HoldRecord> {
	if ((input.patient === undefined) === (input.study === undefined))
		throw new AdministrationError('name either a patient or a study', 'form');
	const { id: siteId } = await siteBySlug(context.em.fork(), input.site);
	const patientId = input.patient === undefined ? null : await rowOfPatient(context, siteId, input.patient);
	const studyUid = input.study === undefined ? null : await uidOfStudy(context, siteId, input.study);
	const id = newId(context.nowMs());
	const at = new Date(context.nowMs()).toISOString();
	await change(context, async (em) => {
		await runInTransaction(em, addHold, [siteId, id, patientId, studyUid, input.reason, at, context.actor.name]);
		return [undefined, audited('hold.add', { id, siteId, patientId, studyUid }, { after: { reason: input.reason } })];
	});
	const placed = await holdRow(context.database, id);
	if (placed === undefined) throw new AdministrationError('the hold is not stored', 'conflict');
	return record(placed);
}

async function rowOfPatient(context: OperationContext, siteId: string, id: string): Promise<string> {
	const found = await new SiteRecord(context, siteId).one('Patient', id);
	if (found === undefined) throw new AdministrationError(`there is no patient '${id}'`, 'not-found', 'patient');
	return found.rowId;
}

async function uidOfStudy(context: OperationContext, siteId: string, study: string): Promise<string> {
	const values = [siteId, study, isUuid(study) ? study : null];
	const [row] = await context.database.rows<{ study_uid: string }>(studyOfUid, values);
	if (row === undefined) throw new AdministrationError(`there is no study '${study}'`, 'not-found', 'study');
	return row.study_uid;
}

export async function listHoldsOf(context: OperationContext, { all }: { all: boolean }): Promise<HoldRecord[]> {
	return (await context.database.rows<HoldRow>(listHolds, [await visibleSiteIds(context), all])).map(record);
}

/** Lifts a hold; its record stays. */
export async function removeHold(
	context: OperationContext,
	{ id, reason: why }: z.infer<typeof removeHoldInput>,
	found: HoldRow,
): Promise<HoldRecord> {
	if (found.lifted_at !== null) throw new AdministrationError('the hold was removed before');
	const { site_id: siteId, patient_id: patientId, study: studyUid, reason: before } = found;
	await change(context, async (em) => {
		await runInTransaction(em, liftHold, [siteId, id, new Date(context.nowMs()).toISOString(), context.actor.name]);
		const sides = { before: { reason: before, removed: null }, after: { reason: before, removed: why } };
		return [undefined, audited('hold.remove', { id, siteId, patientId, studyUid }, sides)];
	});
	return record((await holdRow(context.database, id)) ?? found);
}

function audited(
	action: string,
	{ id, siteId, patientId, studyUid }: { id: string; siteId: string; patientId: string | null; studyUid: string | null },
	sides: Pick<AuditedChange, 'before' | 'after'>,
): AuditedChange {
	return { action, subject: id, siteId, ...sides, patients: [patientId], studies: studyUid === null ? [] : [studyUid] };
}
