import { imaging } from '../holdings/imaging.ts';
import type { HeldInstance, NewInstance, Settlement } from '../imaging.ts';
import type { IndexOutcome, StoredInstance } from '../instance.ts';
import type { ApplyContext } from './context.ts';
import { followStudy } from './report-studies.ts';
import type { Row } from './rows.ts';

/** Builds the index entry of an instance. */
export function addedOf({ set, newId }: ApplyContext, instance: StoredInstance, patient: Row | undefined): NewInstance {
	const { studyUid, seriesUid } = instance.attributes;
	const index = set.of(imaging);
	const study = index.lastKnownStudy(studyUid);
	return {
		instance,
		patientId: study ? study.patientId : (patient?.id ?? null),
		studyId: study?.id ?? newId(),
		isNewStudy: index.study(studyUid) === undefined,
		isNewSeries: !index.hasSeries(studyUid, seriesUid),
	};
}

export function flagOtherPatient({ set, flags }: ApplyContext, studyUid: string, patient: Row | undefined): void {
	const study = set.of(imaging).study(studyUid);
	if (study && patient && study.patientId !== patient.id) {
		flags.push({ code: 'other-patient', text: 'the instance names another patient than its study has; the study stays with the first' });
	}
}

/** Replaces an instance. Its former object is kept as a settled conflict. */
export function replaceInstance(
	context: ApplyContext,
	instance: StoredInstance,
	held: HeldInstance,
	patient: Row | undefined,
	settlement: { as: Settlement; by: string | null },
): IndexOutcome {
	const { newId } = context;
	const index = context.set.of(imaging);
	const { storedAt, ...object } = held;
	const { studyUid } = instance.attributes;
	// A site that lets senders replace instances accepts their corrections of the study too. A person decides about one instance only.
	const isLastWord = settlement.as === 'replaced';
	if (!isLastWord) flagOtherPatient(context, studyUid, patient);
	index.putConflict({ id: newId(), ...object, receivedAt: storedAt, settlement });
	const added = addedOf(context, instance, patient);
	const touched = [...new Set([held.studyUid, studyUid])].map((uid) => ({ uid, before: index.study(uid) }));
	index.replaceInstance({ added, studyUids: [held.studyUid], patientId: patient?.id ?? null, isLastWord });
	for (const { uid, before } of touched) followStudy(context, before, index.study(uid));
	return { kind: 'replaced', superseded: held.objectKey };
}
