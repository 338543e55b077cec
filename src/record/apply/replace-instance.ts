import { imaging } from '../holdings/imaging.ts';
import { nameGroupsOf } from '../identity/name-groups.ts';
import type { HeldInstance, NewInstance, Replacement, Settlement } from '../imaging.ts';
import type { IndexOutcome, StoredInstance } from '../instance.ts';
import type { ApplyContext } from './context.ts';
import { followStudy } from './report-studies.ts';

/** Builds the index entry of an instance. */
export function addedOf({ set, newId }: ApplyContext, instance: StoredInstance, patientId: string | null): NewInstance {
	const { studyUid, seriesUid } = instance.attributes;
	const index = set.of(imaging);
	const study = index.lastKnownStudy(studyUid);
	return {
		instance,
		patientId: study ? study.patientId : patientId,
		studyId: study?.id ?? newId(),
		isNewStudy: index.study(studyUid) === undefined,
		isNewSeries: !index.hasSeries(studyUid, seriesUid),
		nameGroups: nameGroupsOf(instance.attributes.patient, set.row('Patient', study?.patientId ?? patientId ?? '')),
	};
}

/**
 * Replaces an instance. Its former object is kept as a settled conflict. `patientId` is the patient of its study from now on, if the instance
 * has the last word on its study or is its only one.
 */
export function replaceInstance(
	context: ApplyContext,
	instance: StoredInstance,
	held: HeldInstance,
	{ patientId, isLastWord }: Pick<Replacement, 'patientId' | 'isLastWord'>,
	settlement: { as: Settlement; by: string | null },
): IndexOutcome {
	const { newId } = context;
	const index = context.set.of(imaging);
	const { storedAt, statedStudyUid: _filed, ...object } = held;
	const filed = asFiled(instance, held);
	const { studyUid } = filed.instance.attributes;
	index.putConflict({ id: newId(), ...object, receivedAt: storedAt, settlement });
	const added = { ...addedOf(context, filed.instance, patientId), ...filed };
	const touched = [...new Set([held.studyUid, studyUid])].map((uid) => ({ uid, before: index.study(uid) }));
	index.replaceInstance({ added, studyUids: [held.studyUid], patientId, isLastWord });
	for (const { uid, before } of touched) followStudy(context, before, index.study(uid));
	return { kind: 'replaced', superseded: held.objectKey, studyUid };
}

/** An instance that was filed under another study than its data set states stays there when its data set comes again. */
export function asFiled(
	instance: StoredInstance,
	{ studyUid, statedStudyUid }: HeldInstance,
): Pick<NewInstance, 'instance' | 'statedStudyUid'> {
	if (statedStudyUid === undefined || statedStudyUid !== instance.attributes.studyUid) return { instance };
	return { instance: { ...instance, attributes: { ...instance.attributes, studyUid } }, statedStudyUid };
}
