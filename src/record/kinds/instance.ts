import { defineChange } from '../apply/change-kind.ts';
import type { ApplyContext } from '../apply/context.ts';
import { addedOf, asFiled, replaceInstance } from '../apply/replace-instance.ts';
import { tellReports } from '../apply/report-studies.ts';
import { linkReported, linkStudy } from '../apply/study-link.ts';
import { namesOther, noteStated, patientOfStudy, statedBy, statedPatient } from '../apply/study-patient.ts';
import { imaging, nameInstance } from '../holdings/imaging.ts';
import { siteAuthorities } from '../holdings/site-authorities.ts';
import { recordDoubt } from '../identity/doubt.ts';
import { patientsLedTo } from '../identity/leads.ts';
import { learnAuthority } from '../identity/learn.ts';
import type { HeldInstance, HeldStudy } from '../imaging.ts';
import type { IndexOutcome, StoredInstance } from '../instance.ts';
import { isSameObject } from '../same-object.ts';
import type { SettingValue } from '../settings/settings.ts';
import { splitStudyUid } from '../split-study.ts';
import { type PatientChange, patientKind } from './patient.ts';

/** An instance whose bytes lie in the object store. */
export interface InstanceChange {
	kind: 'instance';
	/** Undefined when its data set names no patient. */
	named: PatientChange | undefined;
	instance: StoredInstance;
	/** Decides about an image that names another patient than its study has. */
	otherPatient: SettingValue<'other_patient'>;
}

/** Puts an instance into the index of its site. The outcome depends on what is already stored under its UID, and of its study. */
export const instanceKind = defineChange<InstanceChange>({
	kind: 'instance',
	keys({ instance, named, otherPatient }, keys) {
		nameInstance(keys.of(imaging), instance);
		if (named === undefined) return;
		patientKind.keys(named, keys, [named]);
		if (otherPatient === 'split') keys.of(imaging).studyUids.add(splitUidOf(instance, named));
	},
	patients: ({ named }) => (named === undefined ? [] : (patientKind.patients?.(named) ?? [])),
	apply(context, change) {
		for (const stated of change.named?.authorities ?? []) learnAuthority(context, stated);
		context.instances.push(outcomeOf(context, change));
	},
});

/** The heads of two files of one instance differ at most by the AE title (0002,0016) of the sender. */
const headDifferenceBytesMax = 24;

function outcomeOf(context: ApplyContext, change: InstanceChange): IndexOutcome {
	const index = context.set.of(imaging);
	const { digest, objectKey, attributes } = change.instance;
	const held = index.instance(attributes.sopInstanceUid);
	if (held === undefined) return added(context, change);
	// A batch repeated after a lost connection finds its own row, which names the same object.
	if (isSameObject(held.objectKey, objectKey)) return { kind: 'stored', studyUid: held.studyUid };
	if (held.digest === digest) return { kind: 'duplicate', studyUid: held.studyUid };
	return otherContent(context, change, held);
}

function otherContent(context: ApplyContext, { instance, named }: InstanceChange, held: HeldInstance): IndexOutcome {
	const { set, newId } = context;
	const index = set.of(imaging);
	const { attributes, digest, objectKey, bytes, callingAe, source, compared } = instance;
	const { sopInstanceUid, studyUid } = attributes;
	const kept = index.kept(sopInstanceUid, digest);
	if (kept.some((conflict) => isSameObject(conflict.objectKey, objectKey))) return { kind: 'quarantined', isHeld: false };
	const isCompared = compared !== undefined && isSameObject(compared.objectKey, held.objectKey);
	if (isCompared && compared.isBeginning) {
		for (const { id, isSettled } of kept) if (!isSettled) index.settleConflict({ conflictId: id, as: 'stored', by: null });
		const patientId = index.study(held.studyUid)?.patientId ?? null;
		return replaceInstance(context, instance, held, { patientId, isLastWord: false }, { as: 'replaced', by: null });
	}
	const mayBeCut = held.bytes < bytes + headDifferenceBytesMax;
	if (index.policy !== 'replace' && mayBeCut && !isCompared) return { kind: 'undecided', held: held.objectKey };
	switch (index.policy) {
		case 'keep':
			if (kept.length > 0) return { kind: 'quarantined', isHeld: true };
			index.putConflict({
				id: newId(),
				...{ sopInstanceUid, studyUid, digest, bytes, objectKey, callingAe, source },
				...{ receivedAt: undefined, settlement: undefined },
			});
			return { kind: 'quarantined', isHeld: false };
		case 'replace': {
			// A site that lets senders replace instances accepts their corrections of the study too. A doubt corrects nothing.
			const study = index.study(asFiled(instance, held).instance.attributes.studyUid);
			const isSame = named !== undefined && study !== undefined && study.patientId !== null && !namesOther(context, study, named);
			const found = named === undefined || isSame ? null : patientOfStudy(context, studyUid, named);
			const patientId = named === undefined ? null : (found ?? study?.patientId ?? null);
			const outcome = replaceInstance(context, instance, held, { patientId, isLastWord: true }, { as: 'replaced', by: null });
			noteStated(context, asFiled(instance, held).instance.attributes, named, true);
			return outcome;
		}
		case 'refuse':
			return { kind: 'refused' };
	}
}

/** Files an instance whose UID is not stored. */
function added(context: ApplyContext, change: InstanceChange): IndexOutcome {
	const { instance, named } = change;
	const study = context.set.of(imaging).study(instance.attributes.studyUid);
	if (study && named && namesOther(context, study, named)) {
		const isSplit = change.otherPatient === 'split' && maySplitOff(context, instance, named);
		return isSplit ? splitOff(context, instance, study, named) : setAside(context, instance, study, named);
	}
	fileInstance(context, instance, named);
	return { kind: 'stored' };
}

/** Files an instance under its study. The patient of a study that has one is not looked up again. */
export function fileInstance(
	context: ApplyContext,
	instance: StoredInstance,
	named: PatientChange | undefined,
	statedStudyUid?: string,
): void {
	const index = context.set.of(imaging);
	const { studyUid, patient } = instance.attributes;
	const known = index.lastKnownStudy(studyUid);
	const isUnknown = known === undefined || known.patientId === null;
	const patientId = named && isUnknown ? patientOfStudy(context, studyUid, named) : null;
	const stated = patientId === null && isUnknown ? statedBy(patient, named) : undefined;
	const added = addedOf(context, instance, patientId);
	index.putInstance({ ...added, stated, statedStudyUid });
	const study = index.study(studyUid);
	if (study === undefined) throw new Error('an instance that was added has no study');
	if (added.isNewStudy) {
		if (study.patientId === null) linkReported(context, study);
		tellReports(context, index.study(studyUid) ?? study);
	} else if (study.patientId === null && patientId !== null) linkStudy(context, study, patientId, 'image');
	noteStated(context, instance.attributes, named);
}

/** The study into which an image is split off. */
export function splitUidOf({ attributes }: StoredInstance, named: PatientChange): string {
	return splitStudyUid(attributes.studyUid, statedPatient(named, undefined));
}

/** False when the study into which an image would be split off has become that of another patient meanwhile. */
export function maySplitOff(context: ApplyContext, instance: StoredInstance, named: PatientChange): boolean {
	const into = context.set.of(imaging).study(splitUidOf(instance, named));
	return into === undefined || !namesOther(context, into, named);
}

/** Files an instance under a study of the patient whom it names. */
export function splitOff(context: ApplyContext, instance: StoredInstance, study: HeldStudy, named: PatientChange): IndexOutcome {
	const studyUid = splitUidOf(instance, named);
	fileInstance(context, { ...instance, attributes: { ...instance.attributes, studyUid } }, named, study.studyUid);
	noteOther(context, study, named, 'an image names another patient than its study; it is stored as part of a study of its own');
	return { kind: 'split', studyUid };
}

function setAside(context: ApplyContext, instance: StoredInstance, study: HeldStudy, named: PatientChange): IndexOutcome {
	if (!instance.isForeign) return { kind: 'foreign' };
	const { attributes, digest, objectKey, bytes, callingAe, source } = instance;
	const { sopInstanceUid, studyUid, patient } = attributes;
	const index = context.set.of(imaging);
	const kept = index.kept(sopInstanceUid, digest);
	if (kept.some((conflict) => isSameObject(conflict.objectKey, objectKey))) return { kind: 'aside', isHeld: false };
	noteOther(context, study, named, 'an image names another patient than its study; it is kept aside until a person decides');
	if (kept.length > 0) return { kind: 'aside', isHeld: true };
	index.putConflict({
		id: context.newId(),
		...{ sopInstanceUid, studyUid, digest, bytes, objectKey, callingAe, source },
		...{ receivedAt: undefined, settlement: undefined, otherPatient: statedPatient(named, patient) },
	});
	return { kind: 'aside', isHeld: false };
}

function noteOther(context: ApplyContext, { studyUid, patientId }: HeldStudy, named: PatientChange, text: string): void {
	const { id, system } = statedPatient(named, undefined);
	const led = [...patientsLedTo(context.set, named.identifiers[0])];
	recordDoubt(context, {
		kind: 'other-patient',
		// Whichever name of the authority the image states, it is the same doubt.
		key: [studyUid, context.set.of(siteAuthorities).known.nameOf(system), id],
		...{ text, studyUid },
		...(patientId !== null && { patientId }),
		...(led.length === 1 && { otherPatientId: led[0] }),
	});
}
