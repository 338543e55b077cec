import { defineChange } from '../apply/change-kind.ts';
import type { ApplyContext } from '../apply/context.ts';
import { addedOf, flagOtherPatient, replaceInstance } from '../apply/replace-instance.ts';
import { tellReports } from '../apply/report-studies.ts';
import type { Row } from '../apply/rows.ts';
import { imaging, nameInstance } from '../holdings/imaging.ts';
import type { IndexOutcome, StoredInstance } from '../instance.ts';

/** An instance whose bytes lie in the object store. */
export interface InstanceChange {
	kind: 'instance';
	/** Undefined when its data set names no patient. */
	patient: number | undefined;
	instance: StoredInstance;
}

/** Puts an instance into the index of its site. The outcome depends on what is already stored under its UID. */
export const instanceKind = defineChange<InstanceChange>({
	kind: 'instance',
	keys: ({ instance }, keys) => nameInstance(keys.of(imaging), instance),
	apply(context, { instance, patient }, references) {
		context.instances.push(outcomeOf(context, instance, patient === undefined ? undefined : references.patient(patient)));
	},
});

/** The heads of two files of one instance differ at most by the AE title (0002,0016) of the sender. */
const headDifferenceBytesMax = 24;

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
	// A batch repeated after a lost connection finds its own row, which names the same object.
	if (held.objectKey === objectKey) return { kind: 'stored' };
	if (held.digest === digest) return { kind: 'duplicate' };
	const kept = index.kept(sopInstanceUid, digest);
	if (kept.some((conflict) => conflict.objectKey === objectKey)) return { kind: 'quarantined', isHeld: false };
	const { compared } = instance;
	if (compared?.objectKey === held.objectKey && compared.isBeginning) {
		for (const { id, isSettled } of kept) if (!isSettled) index.settleConflict({ conflictId: id, as: 'stored', by: null });
		return replaceInstance(context, instance, held, patient, { as: 'replaced', by: null });
	}
	const mayBeCut = held.bytes < bytes + headDifferenceBytesMax;
	if (index.policy !== 'replace' && mayBeCut && compared?.objectKey !== held.objectKey) return { kind: 'undecided', held: held.objectKey };
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
			return replaceInstance(context, instance, held, patient, { as: 'replaced', by: null });
		case 'refuse':
			return { kind: 'refused' };
	}
}
