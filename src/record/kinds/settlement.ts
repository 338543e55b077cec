import { Failure } from '#core/failure.ts';
import { defineChange } from '../apply/change-kind.ts';
import type { ApplyContext } from '../apply/context.ts';
import { replaceInstance } from '../apply/replace-instance.ts';
import type { Row } from '../apply/rows.ts';
import { auditTrail } from '../holdings/audit-trail.ts';
import { imaging, nameInstance } from '../holdings/imaging.ts';
import type { HeldConflict, SettledConflict } from '../imaging.ts';
import type { StoredInstance } from '../instance.ts';

/** A person settles a conflict. */
export interface SettlementChange {
	kind: 'settlement';
	conflictId: string;
	by: string;
	/** The address from which it was made; empty for the command line. */
	source: string;
	/** Undefined when its data set names no patient, or when the stored object stays. */
	patient: number | undefined;
	/** The object of the conflict, which becomes the instance; undefined when the stored object stays. */
	received: StoredInstance | undefined;
}

export const settlementKind = defineChange<SettlementChange>({
	kind: 'settlement',
	keys({ conflictId, received }, keys) {
		keys.of(imaging).conflictIds.add(conflictId);
		if (received) nameInstance(keys.of(imaging), received);
	},
	apply(context, change, references) {
		applySettlement(context, change, change.patient === undefined ? undefined : references.patient(change.patient));
	},
});

/**
 * Settles a conflict: the stored object stays, or the object that was kept aside becomes the instance.
 * @throws Failure `not-found`, `conflict`
 */
function applySettlement(context: ApplyContext, change: SettlementChange, patient: Row | undefined): void {
	const index = context.set.of(imaging);
	const { conflictId, by, source, received } = change;
	const conflict = index.conflict(conflictId);
	if (conflict === undefined) throw new Failure('not-found', 'there is no such conflict');
	const { sopInstanceUid } = conflict;
	if (received === undefined) {
		if (conflict.isSettled) throw new Failure('conflict', 'the conflict is already settled');
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
	context.instances.push(replaceInstance(context, received, held, patient, { as: 'superseded', by }));
}

function settle(
	{ set, newId, lastUpdated }: ApplyContext,
	{ sopInstanceUid }: HeldConflict,
	settled: SettledConflict & { by: string },
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
