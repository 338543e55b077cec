import { Failure } from '#core/failure.ts';
import { defineChange } from '../apply/change-kind.ts';
import type { ApplyContext } from '../apply/context.ts';
import { asFiled, replaceInstance } from '../apply/replace-instance.ts';
import { namesOther, noteStated, patientOfStudy } from '../apply/study-patient.ts';
import { auditTrail } from '../holdings/audit-trail.ts';
import { imaging, nameInstance } from '../holdings/imaging.ts';
import { settleDecided } from '../identity/doubt.ts';
import type { HeldConflict, HeldInstance, SettledConflict } from '../imaging.ts';
import type { StoredInstance } from '../instance.ts';
import { isSameObject } from '../same-object.ts';
import { fileInstance, maySplitOff, splitOff, splitUidOf } from './instance.ts';
import { type PatientChange, patientKind } from './patient.ts';

/** A person settles a conflict. */
export interface SettlementChange {
	kind: 'settlement';
	conflictId: string;
	by: string;
	/** The address from which it was made; empty for the command line. */
	source: string;
	/** The patient whom its data set names. Undefined when it names none, or when the stored object stays. */
	named: PatientChange | undefined;
	/** The object of the conflict, which becomes the instance; undefined when the stored object stays. */
	received: StoredInstance | undefined;
	/** The object becomes part of a study of its own: its study is another patient's. */
	isSplit?: boolean;
}

export const settlementKind = defineChange<SettlementChange>({
	kind: 'settlement',
	keys({ conflictId, received, named, isSplit }, keys) {
		if (named) patientKind.keys(named, keys, [named]);
		if (named && received && isSplit) keys.of(imaging).studyUids.add(splitUidOf(received, named));
		keys.of(imaging).conflictIds.add(conflictId);
		if (received) nameInstance(keys.of(imaging), received);
	},
	apply: applySettlement,
});

/**
 * Settles a conflict: the stored object stays, or the object that was kept aside becomes the instance.
 * @throws Failure `not-found`, `conflict`
 */
function applySettlement(context: ApplyContext, change: SettlementChange): void {
	const index = context.set.of(imaging);
	const { conflictId, by, source, named } = change;
	const conflict = index.conflict(conflictId);
	if (conflict === undefined) throw new Failure('not-found', 'there is no such conflict');
	const { sopInstanceUid } = conflict;
	if (change.received === undefined) {
		if (conflict.isSettled) throw new Failure('conflict', 'the conflict is already settled');
		settle(context, conflict, { conflictId, as: 'stored', by }, source);
		return;
	}
	if (!isSameObject(change.received.objectKey, conflict.objectKey) || change.received.attributes.sopInstanceUid !== sopInstanceUid) {
		throw new Failure('conflict', 'the object is not that of the conflict');
	}
	// The object may have been moved since the decision was made; its row says where it is.
	const received = { ...change.received, objectKey: conflict.objectKey };
	const held = index.instance(sopInstanceUid);
	if (held === undefined && conflict.isForeign) {
		takeIn(context, change, received);
		settle(context, conflict, { conflictId, as: 'received', by }, source);
		return;
	}
	if (held === undefined) throw new Failure('not-found', 'the instance is not in the index');
	if (change.isSplit) throw new Failure('conflict', 'only an image that names another patient than its study can be split off');
	if (isSameObject(held.objectKey, conflict.objectKey)) throw new Failure('conflict', 'the object of the conflict is the instance already');
	settle(context, conflict, { conflictId, as: 'received', by }, source);
	const patientId = patientOfReceived(context, received, held, named);
	context.instances.push(replaceInstance(context, received, held, { patientId, isLastWord: false }, { as: 'superseded', by }));
	noteStated(context, asFiled(received, held).instance.attributes, named);
}

/** Files an image that was kept aside: in its study, whose patient a person says is right, or in a study of its own. */
function takeIn(context: ApplyContext, { named, isSplit }: SettlementChange, received: StoredInstance): void {
	const study = context.set.of(imaging).study(received.attributes.studyUid);
	if (isSplit && study && named) {
		if (!maySplitOff(context, received, named)) throw new Failure('conflict', 'the study of its own is that of another patient by now');
		context.instances.push(splitOff(context, received, study, named));
	} else {
		fileInstance(context, received, named);
		context.instances.push({ kind: 'stored' });
	}
}

/** The patient of the study of the received object: its own if it begins the study or is all of it, else the one whom the study has. */
function patientOfReceived(
	context: ApplyContext,
	received: StoredInstance,
	held: HeldInstance,
	named: PatientChange | undefined,
): string | null {
	const { studyUid } = asFiled(received, held).instance.attributes;
	const study = context.set.of(imaging).study(studyUid);
	if (study === undefined) return named ? patientOfStudy(context, studyUid, named) : null;
	const isAll = study.instanceCount === 1 && held.studyUid === studyUid;
	const isOther = named !== undefined && namesOther(context, study, named);
	return isAll && isOther ? (patientOfStudy(context, studyUid, named) ?? study.patientId) : study.patientId;
}

function settle(
	context: ApplyContext,
	{ sopInstanceUid, aside }: HeldConflict,
	settled: SettledConflict & { by: string },
	source: string,
): void {
	const { set, newId, lastUpdated } = context;
	set.of(imaging).settleConflict(settled);
	if (aside) settleDecided(context, aside, settled.by);
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
