import { Failure } from '#core/failure.ts';
import { defineChange } from '../apply/change-kind.ts';
import type { ApplyContext } from '../apply/context.ts';
import { followStudy, moveReports } from '../apply/report-studies.ts';
import { recordUnmatched } from '../apply/study-patient.ts';
import { imaging } from '../holdings/imaging.ts';
import { studyEdits } from '../holdings/study-edits.ts';
import { settleDoubts } from '../identity/doubt.ts';
import type { StudyEdit } from '../identity/edit.ts';
import { survivorOf } from '../identity/match.ts';
import type { HeldStudy } from '../imaging.ts';

/** A person puts right whose a study is, or to which study images belong. */
export interface StudyEditChange {
	kind: 'study-edit';
	/** The id of the message, under which the edit is recorded. */
	id: string;
	edit: StudyEdit;
}

export const studyEditKind = defineChange<StudyEditChange>({
	kind: 'study-edit',
	/** It moves rows by statement. */
	alone: true,
	keys({ edit }, keys) {
		const { studyUids, relinked } = keys.of(imaging);
		const edits = keys.of(studyEdits);
		const undone = edit.operation === 'undo' ? edit.undone : undefined;
		for (const uid of [edit.studyUid, 'toStudyUid' in edit ? edit.toStudyUid : undone?.toStudyUid]) {
			if (typeof uid !== 'string') continue;
			studyUids.add(uid);
			relinked.add(uid);
		}
		if ('patientId' in edit) keys.addRow('Patient', edit.patientId);
		if ('images' in edit) edits.images.push([edit.studyUid, edit.images]);
		if (edit.operation !== 'undo' || undone === undefined) return;
		edits.editIds.add(edit.editId);
		if (undone.toStudyUid !== null) edits.images.push([undone.toStudyUid, { seriesUids: [], sopInstanceUids: undone.sopInstanceUids }]);
		const before = undone.recordedPatientId ?? undone.fromPatientId;
		if (before !== null) keys.addRow('Patient', before);
	},
	apply(context, change) {
		const { edit } = change;
		if (edit.operation === 'assign') assign(context, change, edit.patientId);
		else if (edit.operation === 'undo') undo(context, change, edit.editId);
		else takeAlong(context, change.id, edit);
	},
});

function studyOf({ set }: ApplyContext, uid: string): HeldStudy {
	const study = set.of(imaging).study(uid);
	if (study === undefined) throw new Failure('not-found', 'this site has no study of this UID');
	return study;
}

/** Returns the row id of the patient as they are now. */
function patientOf({ set }: ApplyContext, id: string): string {
	const row = set.row('Patient', id);
	if (row === undefined) throw new Failure('not-found', 'this site has no patient of this id');
	return survivorOf(set, row).id;
}

function assign(context: ApplyContext, { id, edit }: StudyEditChange, to: string): void {
	const study = studyOf(context, edit.studyUid);
	const patientId = patientOf(context, to);
	if (study.patientId === patientId) throw new Failure('conflict', 'the study is that of this patient already');
	const { formerPatientIds = [], patientId: from } = study;
	give(context, study, patientId, from === null ? formerPatientIds : [...formerPatientIds.filter((former) => former !== from), from]);
	context.set.of(studyEdits).record({
		...{ id, operation: 'assign', studyUid: study.studyUid, toStudyUid: null, fromPatientId: from, toPatientId: patientId },
		...{ sopInstanceUids: [], by: edit.actor, isUndone: false },
	});
	settleDoubts(context, { studyUid: study.studyUid }, 'assigned', edit.actor);
}

/** Gives a study to a patient, or takes it from its patient. Reports follow. */
function give(
	context: ApplyContext,
	study: HeldStudy,
	patientId: string | null,
	former: readonly string[],
	recordedPatientId: string | null = null,
): void {
	const index = context.set.of(imaging);
	index.assignStudy(study, patientId, former, recordedPatientId);
	moveReports(context, study, patientId);
	followStudy(context, study, index.study(study.studyUid));
}

function takeAlong(context: ApplyContext, id: string, edit: Extract<StudyEdit, { toStudyUid: string }>): void {
	const { operation, toStudyUid } = edit;
	const index = context.set.of(imaging);
	const from = studyOf(context, edit.studyUid);
	const held = index.study(toStudyUid);
	if (operation === 'move' && held === undefined) throw new Failure('not-found', 'this site has no study of the UID into which images go');
	if (operation === 'split' && held !== undefined) throw new Failure('conflict', 'this site has a study of the new UID already');
	if (from.studyUid === toStudyUid) throw new Failure('conflict', 'the images are in this study already');
	const sopInstanceUids = context.set.of(studyEdits).images(from.studyUid);
	if (sopInstanceUids.length === 0) throw new Failure('not-found', 'the study has none of these images');
	const isAll = sopInstanceUids.length === from.instanceCount;
	if (operation === 'split' && isAll) throw new Failure('conflict', 'these are all images of the study; assign it to the patient instead');
	const patientId = edit.operation === 'split' ? patientOf(context, edit.patientId) : (held?.patientId ?? null);
	const begins = held === undefined ? { id: context.newId(), patientId } : undefined;
	context.set.of(studyEdits).move({ fromUid: from.studyUid, toUid: toStudyUid, sopInstanceUids, begins, restores: undefined });
	context.set.of(studyEdits).record({
		...{ id, operation, studyUid: from.studyUid, toStudyUid, fromPatientId: from.patientId, toPatientId: patientId },
		...{ sopInstanceUids, by: edit.actor, isUndone: false },
	});
	if (begins) followStudy(context, undefined, { ...from, id: begins.id, studyUid: toStudyUid, patientId });
	if (isAll) followStudy(context, from, undefined);
	settleDoubts(context, { studyUid: from.studyUid }, operation === 'split' ? 'split' : 'moved', edit.actor);
}

function undo(context: ApplyContext, { edit }: StudyEditChange, editId: string): void {
	const index = context.set.of(imaging);
	const edits = context.set.of(studyEdits);
	const done = edits.edit(editId);
	if (done === undefined) throw new Failure('not-found', 'this site has no such edit of a study');
	if (done.isUndone) throw new Failure('conflict', 'the edit is undone already');
	// As if the edit had not been: a merge that is undone later returns the study to whom it was recorded under.
	const before = done.recordedPatientId ?? done.fromPatientId;
	const from = before === null ? null : patientOf(context, before);
	if (done.operation === 'assign') {
		const study = studyOf(context, done.studyUid);
		give(
			context,
			study,
			from,
			(study.formerPatientIds ?? []).filter((former) => former !== done.fromPatientId),
			before === from ? null : before,
		);
		// The assignment had settled the doubt about whose it is.
		if (from === null && study.stated !== undefined) recordUnmatched(context, study.studyUid, 'its assignment to a patient was undone');
	} else {
		const { toStudyUid } = done;
		if (toStudyUid === null) throw new Error('an edit moved images into no study');
		const sopInstanceUids = edits.images(toStudyUid);
		if (sopInstanceUids.length === 0) throw new Failure('conflict', 'the images are no longer in the study into which they went');
		const [to, home] = [studyOf(context, toStudyUid), index.study(done.studyUid)];
		const restores = home === undefined ? done.id : undefined;
		edits.move({ fromUid: toStudyUid, toUid: done.studyUid, sopInstanceUids, begins: undefined, restores });
		if (sopInstanceUids.length === to.instanceCount) followStudy(context, to, undefined);
	}
	edits.undo(done.id, edit.actor);
}
