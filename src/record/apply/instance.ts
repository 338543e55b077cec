import { Failure } from '#core/failure.ts';
import type { InstanceChange, SettlementChange } from '../change-set.ts';
import { auditTrail } from '../holdings/audit-trail.ts';
import { imaging } from '../holdings/imaging.ts';
import type { HeldConflict, HeldInstance, NewInstance, SettledConflict, Settlement } from '../imaging.ts';
import type { IndexOutcome, StoredInstance } from '../instance.ts';
import type { ApplyContext } from './context.ts';
import { followStudy, tellReports } from './report-studies.ts';
import type { Row } from './rows.ts';

/** Puts an instance into the index of its site; what is there under its UID already decides what becomes of it. */
export function applyInstance(context: ApplyContext, { instance }: InstanceChange, patient: Row | undefined): void {
	context.instances.push(outcomeOf(context, instance, patient));
}

function outcomeOf(context: ApplyContext, instance: StoredInstance, patient: Row | undefined): IndexOutcome {
	const { set, newId } = context;
	const index = set.of(imaging);
	const { attributes, digest, objectKey, bytes, callingAe, source } = instance;
	const { sopInstanceUid, studyUid } = attributes;
	const held = index.instance(sopInstanceUid);
	if (held === undefined) {
		const added = addedOf(context, instance, patient);
		flagOtherPatient(context, studyUid, patient);
		index.putInstance(added);
		const begun = added.isNewStudy ? index.study(studyUid) : undefined;
		if (begun) tellReports(context, begun);
		return { kind: 'stored' };
	}
	// A batch that was repeated after a lost connection meets its own row: the object is the one that the row names.
	if (held.objectKey === objectKey) return { kind: 'stored' };
	if (held.digest === digest) return { kind: 'duplicate' };
	const kept = index.keptObjects(sopInstanceUid, digest);
	if (kept.includes(objectKey)) return { kind: 'quarantined', isHeld: false };
	switch (index.policy) {
		case 'keep':
			if (kept.length > 0) return { kind: 'quarantined', isHeld: true };
			index.putConflict({
				id: newId(),
				...{ sopInstanceUid, studyUid, digest, bytes, objectKey, callingAe, source },
				receivedAt: undefined,
				settlement: undefined,
			});
			return { kind: 'quarantined', isHeld: false };
		case 'replace':
			return replace(context, instance, held, patient, { as: 'replaced', by: null });
		case 'refuse':
			return { kind: 'refused' };
	}
}

function addedOf({ set, newId }: ApplyContext, instance: StoredInstance, patient: Row | undefined): NewInstance {
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

function flagOtherPatient({ set, flags }: ApplyContext, studyUid: string, patient: Row | undefined): void {
	const study = set.of(imaging).study(studyUid);
	if (study && patient && study.patientId !== patient.id) {
		flags.push({ code: 'other-patient', text: 'the instance names another patient than its study has; the study stays with the first' });
	}
}

/** The object that was the instance is kept, as a conflict that is settled. */
function replace(
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
	// A site that lets senders replace takes their corrections; a person decides about one instance, not about its study.
	const isLastWord = settlement.as === 'replaced';
	if (!isLastWord) flagOtherPatient(context, studyUid, patient);
	index.putConflict({ id: newId(), ...object, receivedAt: storedAt, settlement });
	const added = addedOf(context, instance, patient);
	const touched = [...new Set([held.studyUid, studyUid])].map((uid) => ({ uid, before: index.study(uid) }));
	index.replaceInstance({ added, studyUids: [held.studyUid], patientId: patient?.id ?? null, isLastWord });
	for (const { uid, before } of touched) followStudy(context, before, index.study(uid));
	return { kind: 'replaced', superseded: held.objectKey };
}

/**
 * Settles a conflict: what is stored stays, or the object that was kept aside becomes the instance.
 * @throws Failure `not-found`, `conflict`
 */
export function applySettlement(context: ApplyContext, change: SettlementChange, patient: Row | undefined): void {
	const index = context.set.of(imaging);
	const { conflictId, by, source, received } = change;
	const conflict = index.conflict(conflictId);
	if (conflict === undefined) throw new Failure('not-found', 'there is no such conflict');
	const { sopInstanceUid } = conflict;
	if (received === undefined) {
		if (conflict.isSettled) throw new Failure('conflict', 'the conflict is settled');
		settle(context, conflict, { conflictId, as: 'stored', by }, source);
		return;
	}
	if (received.objectKey !== conflict.objectKey || received.attributes.sopInstanceUid !== sopInstanceUid) {
		throw new Failure('conflict', 'the object is not that of the conflict');
	}
	const held = index.instance(sopInstanceUid);
	if (held === undefined) throw new Failure('not-found', 'the instance is not in the index');
	if (held.objectKey === conflict.objectKey) throw new Failure('conflict', 'the object of the conflict is the instance already');
	settle(context, conflict, { conflictId, as: 'received', by }, source);
	context.instances.push(replace(context, received, held, patient, { as: 'superseded', by }));
}

function settle(
	{ set, newId, lastUpdated }: ApplyContext,
	{ sopInstanceUid }: HeldConflict,
	settled: SettledConflict,
	source: string,
): void {
	set.of(imaging).settleConflict(settled);
	set.of(auditTrail).put({
		id: newId(),
		recordedAt: lastUpdated,
		actor: settled.by,
		action: 'conflict.settle',
		subject: settled.conflictId,
		source,
		detail: JSON.stringify({ sop_instance_uid: sopInstanceUid, keep: settled.as }),
	});
}
