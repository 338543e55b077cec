import { z } from 'zod';
import { newId } from '#core/id.ts';
import { asObjects, asText } from '#fhir/elements.ts';
import type { NamedImages, StudyEdit } from '#record/identity/edit.ts';
import { rowIdOf } from '#record/row-id.ts';
import { uidOfUuid } from '#record/split-study.ts';
import { isUid } from '#record/uid.ts';
import { asideOfStudy, countImages, listStudyEdits, reportsOfStudy, studyOfUid } from '#storage/statements/administrative/study-edits.ts';
import { settleConflict } from './conflicts.ts';
import { AdministrationError, note, type OperationContext } from './context.ts';
import { deliverIdentity } from './deliver-identity.ts';
import { patientsNamed } from './named-patient.ts';
import { patientOf, patientRecord } from './patients.ts';
import { type RecordedResource, SiteRecord } from './site-record.ts';
import { siteBySlug } from './sites.ts';

const uid = z.string().refine(isUid, 'is no UID');
const images = {
	series: z.array(uid).max(1000).default([]).describe('Series Instance UIDs that go along; without series and instances, all'),
	instances: z.array(uid).max(10_000).default([]).describe('SOP Instance UIDs that go along'),
};
const study = { site: z.string(), study: z.string().max(64).describe('Study Instance UID, or id of the ImagingStudy') };

export const assignStudyInput = z.strictObject({ ...study, patient: z.string().describe('id or number of the patient whose study it is') });
export const moveStudyInput = z.strictObject({
	...study,
	to: z.string().max(64).describe('the study into which the images go'),
	...images,
});
export const splitStudyInput = z.strictObject({
	...study,
	patient: z.string().describe('id or number of the patient whose study the images are'),
	...images,
});
export const previewStudyInput = z.strictObject({
	...study,
	operation: z.enum(['assign', 'move', 'split']).default('assign'),
	patient: z.string().optional().describe('id or number of the patient'),
	to: z.string().max(64).optional(),
	...images,
});
export const undoStudyInput = z.strictObject({ site: z.string(), edit: z.uuid().describe('id of the edit, as `study edits` lists it') });
export const listStudyEditsInput = z.strictObject({
	site: z.string(),
	study: z.string().max(64).optional().describe('Study Instance UID'),
});

export const studyPreview = z.strictObject({
	operation: z.enum(['assign', 'move', 'split']),
	study: z.string(),
	from: patientRecord.nullable().describe('the patient of the study now'),
	to: patientRecord.nullable().describe('the patient whose the images will be'),
	to_study: z.string().nullable().describe('the study into which images go; null for a new one'),
	instances: z.number().int(),
	of_instances: z.number().int().describe('all instances of the study'),
	reports: z.number().int().describe('reports of people about the study, which go along with an assignment'),
	aside: z.number().int().describe('images kept aside that name the patient; an assignment takes them in'),
	obstacle: z.string().nullable().describe('why the operation cannot be carried out'),
});

export const studyEditRecord = z.strictObject({
	id: z.string(),
	operation: z.enum(['assign', 'move', 'split']),
	study: z.string(),
	to_study: z.string().nullable(),
	from: z.string().nullable().describe('id of the patient before'),
	to: z.string().nullable().describe('id of the patient after'),
	instances: z.number().int().describe('number of instances that went along; 0 for an assignment, which takes all'),
	at: z.string(),
	by: z.string(),
	undone_at: z.string().nullable(),
	undone_by: z.string().nullable(),
});

export const studyEditResult = z.strictObject({
	edit: z.string().describe('id of the edit, by which it can be undone, and of the logged message that carried it out'),
	study: z.string(),
	to_study: z.string().nullable(),
	taken_in: z.number().int().describe('images that were kept aside and are part of the study now'),
});
type StudyEditResult = z.output<typeof studyEditResult>;

interface StudyRow {
	study_uid: string;
	patient_id: string | null;
	instance_count: number;
}

/** A site, one of its studies, and its patients. */
class Desk {
	readonly context: OperationContext;
	readonly siteId: string;
	readonly record: SiteRecord;

	constructor(context: OperationContext, siteId: string) {
		this.context = context;
		this.siteId = siteId;
		this.record = new SiteRecord(context, siteId);
	}

	static async of(context: OperationContext, site: string): Promise<Desk> {
		return new Desk(context, (await siteBySlug(context.em.fork(), site)).id);
	}

	/** Finds a study by its UID, or by the id of the ImagingStudy. */
	async study(studyUid: string, field = 'study'): Promise<StudyRow> {
		const [row] = await this.context.database.rows<StudyRow>(studyOfUid, [
			this.siteId,
			studyUid,
			z.uuid().safeParse(studyUid).success ? studyUid : null,
		]);
		if (row === undefined) throw new AdministrationError(`there is no study '${studyUid}'`, 'not-found', field);
		return row;
	}

	/** Finds a patient by its id, or by a number that no other patient of the site has. */
	async patient(id: string): Promise<RecordedResource> {
		const [found, other] = await patientsNamed(this.record, id);
		if (found === undefined) throw new AdministrationError('no patient of the site has this id or number', 'not-found', 'patient');
		if (other !== undefined)
			throw new AdministrationError('several patients of the site have this number: name one by its id', 'refused', 'patient');
		return found;
	}

	async patientOfRow(rowId: string | null): Promise<RecordedResource | undefined> {
		return rowId === null ? undefined : (await this.record.byRowId('Patient', [rowId]))[0];
	}

	async count(studyUid: string, { seriesUids, sopInstanceUids }: NamedImages): Promise<number> {
		const [row] = await this.context.database.rows<{ count: number }>(countImages, [this.siteId, studyUid, seriesUids, sopInstanceUids]);
		return row?.count ?? 0;
	}
}

const numbersOf = (patient: RecordedResource | undefined) =>
	asObjects(patient?.resource['identifier']).flatMap(({ value }) => asText(value) ?? []);
const namedImages = ({ series, instances }: { series: string[]; instances: string[] }): NamedImages => ({
	seriesUids: series,
	sopInstanceUids: instances,
});

/** Shows what an edit of a study would do. The audit trail records that the patients were viewed. */
export async function previewStudy(
	context: OperationContext,
	input: z.output<typeof previewStudyInput>,
): Promise<z.output<typeof studyPreview>> {
	const desk = await Desk.of(context, input.site);
	const { operation } = input;
	const row = await desk.study(input.study);
	const target = input.to === undefined ? undefined : await desk.study(input.to, 'to');
	const from = await desk.patientOfRow(row.patient_id);
	const to = input.patient === undefined ? await desk.patientOfRow(target?.patient_id ?? null) : await desk.patient(input.patient);
	for (const patient of [from, to]) {
		if (patient === undefined) continue;
		const patients = [rowIdOf(patient.id)];
		await note(context, { action: 'patient.read', subject: patient.id, siteId: desk.siteId, patients });
	}
	const uid = row.study_uid;
	const instances = operation === 'assign' ? row.instance_count : await desk.count(uid, namedImages(input));
	const aside = operation === 'assign' ? await asideFor(desk, uid, to) : [];
	const [reports] = await context.database.rows<{ count: number }>(reportsOfStudy, [desk.siteId, uid]);
	return {
		...{ operation, study: uid, from: from ? patientOf(from) : null, to: to ? patientOf(to) : null, to_study: target?.study_uid ?? null },
		...{ instances, of_instances: row.instance_count, reports: operation === 'assign' ? (reports?.count ?? 0) : 0, aside: aside.length },
		obstacle: obstacleTo(input, row, { instances, toRowId: to?.rowId, toUid: target?.study_uid }),
	};
}

function obstacleTo(
	{ operation, to, patient }: z.output<typeof previewStudyInput>,
	row: StudyRow,
	{ instances, toRowId, toUid }: { instances: number; toRowId: string | undefined; toUid: string | undefined },
): string | null {
	if (operation === 'move' && to === undefined) return 'name the study into which the images go';
	if (operation !== 'move' && patient === undefined) return 'name the patient';
	if (operation === 'assign') return row.patient_id === toRowId ? 'the study is that of this patient already' : null;
	if (row.study_uid === toUid) return 'the images are in this study already';
	if (instances === 0) return 'the study has none of these images';
	const isAll = instances === row.instance_count;
	return operation === 'split' && isAll ? 'these are all images of the study; assign it to the patient instead' : null;
}

/** Returns the ids of open conflicts about images of the study that were kept aside and name the patient. */
async function asideFor(desk: Desk, studyUid: string, patient: RecordedResource | undefined): Promise<string[]> {
	if (patient === undefined) return [];
	const rows = await desk.context.database.rows<{ id: string }>(asideOfStudy, [desk.siteId, studyUid, patient.rowId]);
	return rows.map(({ id }) => id);
}

/** Gives a whole study to a patient. Images that were kept aside because they name this patient become part of it. */
export async function assignStudy(context: OperationContext, input: z.output<typeof assignStudyInput>): Promise<StudyEditResult> {
	const desk = await Desk.of(context, input.site);
	const { study_uid: studyUid, patient_id: patientId } = await desk.study(input.study);
	const [before, patient] = [await desk.patientOfRow(patientId), await desk.patient(input.patient)];
	const identifiers = [before, patient].flatMap((one) => numbersOf(one).slice(0, 1));
	const actor = context.actor.name;
	const id = await deliverIdentity(desk.context, desk.siteId, {
		operation: 'assign',
		studyUid,
		patientId: patient.rowId,
		identifiers,
		actor,
	});
	const taken = await takenIn(desk, await asideFor(desk, studyUid, patient));
	await note(context, {
		...{ action: 'study.assign', subject: studyUid, siteId: desk.siteId },
		...{ before: { patient: before?.id ?? null }, after: { patient: patient.id, message: id, taken_in: taken } },
	});
	return { edit: id, study: studyUid, to_study: null, taken_in: taken };
}

/** Takes images into their study. One that cannot be taken in yet stays listed as a conflict. */
async function takenIn({ context }: Desk, conflicts: readonly string[]): Promise<number> {
	let taken = 0;
	for (const id of conflicts) {
		try {
			await settleConflict(context, { id, keep: 'received' });
			taken += 1;
		} catch (error) {
			if (!(error instanceof AdministrationError)) throw error;
		}
	}
	return taken;
}

/** Moves images into another study of the site. */
export async function moveStudy(context: OperationContext, input: z.output<typeof moveStudyInput>): Promise<StudyEditResult> {
	const desk = await Desk.of(context, input.site);
	const [from, to] = [await desk.study(input.study), await desk.study(input.to, 'to')];
	const patients = [await desk.patientOfRow(from.patient_id), await desk.patientOfRow(to.patient_id)];
	const identifiers = patients.flatMap((one) => numbersOf(one).slice(0, 1));
	return takeAlong(desk, {
		operation: 'move',
		studyUid: from.study_uid,
		toStudyUid: to.study_uid,
		images: namedImages(input),
		identifiers,
		actor: context.actor.name,
	});
}

/** Makes images a study of their own, which belongs to another patient. */
export async function splitStudy(context: OperationContext, input: z.output<typeof splitStudyInput>): Promise<StudyEditResult> {
	const desk = await Desk.of(context, input.site);
	const { study_uid: studyUid, patient_id: patientId } = await desk.study(input.study);
	const [before, patient] = [await desk.patientOfRow(patientId), await desk.patient(input.patient)];
	const identifiers = [before, patient].flatMap((one) => numbersOf(one).slice(0, 1));
	const toStudyUid = uidOfUuid(newId(context.nowMs()));
	const of = { studyUid, toStudyUid, patientId: patient.rowId, images: namedImages(input), identifiers };
	return takeAlong(desk, { operation: 'split', ...of, actor: context.actor.name });
}

async function takeAlong(desk: Desk, edit: Extract<StudyEdit, { toStudyUid: string }>): Promise<StudyEditResult> {
	const { studyUid, toStudyUid, images: taken } = edit;
	const id = await deliverIdentity(desk.context, desk.siteId, edit);
	await note(desk.context, {
		...{ action: `study.${edit.operation}`, subject: studyUid, siteId: desk.siteId },
		after: { study: toStudyUid, series: taken.seriesUids, instances: taken.sopInstanceUids, message: id },
	});
	return { edit: id, study: studyUid, to_study: toStudyUid, taken_in: 0 };
}

interface EditRow {
	id: string;
	operation: 'assign' | 'move' | 'split';
	study_uid: string;
	other_study_uid: string | null;
	from_patient_id: string | null;
	recorded_patient_id: string | null;
	to_patient_id: string | null;
	sop_instance_uids: string[];
	edited_at: Date;
	edited_by: string;
	undone_at: Date | null;
	undone_by: string | null;
}

/** Lists what people put right about studies, newest first. */
export async function listStudyEditsOf(
	context: OperationContext,
	input: z.output<typeof listStudyEditsInput>,
): Promise<z.output<typeof studyEditRecord>[]> {
	const desk = await Desk.of(context, input.site);
	const rows = await context.database.rows<EditRow>(listStudyEdits, [desk.siteId, input.study ?? null, null]);
	const named = [...new Set(rows.flatMap((row) => [row.from_patient_id, row.to_patient_id]).filter((id) => id !== null))];
	const ids = new Map((await desk.record.byRowId('Patient', named)).map(({ rowId, id }) => [rowId, id]));
	return rows.map((row) => ({
		...{ id: row.id, operation: row.operation, study: row.study_uid, to_study: row.other_study_uid },
		...{ from: ids.get(row.from_patient_id ?? '') ?? null, to: ids.get(row.to_patient_id ?? '') ?? null },
		...{ instances: row.sop_instance_uids.length, at: row.edited_at.toISOString(), by: row.edited_by },
		...{ undone_at: row.undone_at?.toISOString() ?? null, undone_by: row.undone_by },
	}));
}

/** Undoes an edit of a study: the study returns to its patient, or the images return to their study. */
export async function undoStudy(context: OperationContext, input: z.output<typeof undoStudyInput>): Promise<StudyEditResult> {
	const desk = await Desk.of(context, input.site);
	const [row] = await context.database.rows<EditRow>(listStudyEdits, [desk.siteId, null, input.edit]);
	if (row === undefined) throw new AdministrationError(`there is no edit '${input.edit}'`, 'not-found', 'edit');
	const undone = {
		...{ toStudyUid: row.other_study_uid, sopInstanceUids: row.sop_instance_uids },
		...{ fromPatientId: row.from_patient_id, recordedPatientId: row.recorded_patient_id },
	};
	const of = { studyUid: row.study_uid, editId: row.id, undone, identifiers: [], actor: context.actor.name };
	const id = await deliverIdentity(desk.context, desk.siteId, { operation: 'undo', ...of });
	await note(context, {
		...{ action: 'study.undo', subject: row.study_uid, siteId: desk.siteId },
		after: { edit: row.id, operation: row.operation, message: id },
	});
	return { edit: row.id, study: row.study_uid, to_study: row.other_study_uid, taken_in: 0 };
}
