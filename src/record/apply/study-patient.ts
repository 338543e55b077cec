import { Failure } from '#core/failure.ts';
import { imaging } from '../holdings/imaging.ts';
import { siteAuthorities } from '../holdings/site-authorities.ts';
import { recordDoubt } from '../identity/doubt.ts';
import { HeldForPerson } from '../identity/held.ts';
import { systemOf } from '../identity/identifier-key.ts';
import { patientsLedTo } from '../identity/leads.ts';
import type { HeldStudy, StatedFacts, StatedPatient, StatedPerson } from '../imaging.ts';
import type { InstanceAttributes, InstancePatient } from '../instance.ts';
import { type PatientChange, patientKind } from '../kinds/patient.ts';
import type { ApplyContext } from './context.ts';
import { References } from './references.ts';

/** Returns the patient as an image names them. */
export function statedPatient({ identifiers: [identifier] }: PatientChange, patient: InstancePatient | undefined): StatedPatient {
	return { id: identifier.value, system: systemOf(identifier), ...factsOf(patient) };
}

/** Returns what an image states of a person, by number if it states one; undefined if it names nobody. */
export function statedBy(patient: InstancePatient, named: PatientChange | undefined): StatedPatient | StatedPerson | undefined {
	if (named) return statedPatient(named, patient);
	return patient.name && factsOf(patient);
}

function factsOf(patient: InstancePatient | undefined): StatedFacts {
	const { family = '', given = '', middle = '', prefix = '', suffix = '' } = patient?.name ?? {};
	const { birthDate, gender } = patient ?? {};
	const name = [family, given, middle, prefix, suffix].join('^').replaceAll('\\', ' ').replace(/\^+$/, '');
	return { name, ...(birthDate !== undefined && { birthDate }), ...(gender !== undefined && { gender }) };
}

/**
 * Notes what an image states of a person in its study, if that has no patient. What the first image stated stays, unless this one is the first
 * with a Patient ID, or has the last word. A study of somebody without a Patient ID is listed until a person, a report or another image says
 * who that is: a name tells it of nobody.
 */
export function noteStated(
	context: ApplyContext,
	{ studyUid, patient }: InstanceAttributes,
	named: PatientChange | undefined,
	hasLastWord = false,
): void {
	const index = context.set.of(imaging);
	const study = index.study(studyUid);
	if (study?.patientId !== null) return;
	const stated = statedBy(patient, named);
	if (stated === undefined) return;
	const kept = hasLastWord ? undefined : study.stated;
	if (kept === undefined || (kept.id === undefined && stated.id !== undefined)) index.stateStudy(study, stated);
	// Somebody who cannot be told by the Patient ID is in doubt already.
	if (stated.id !== undefined || kept?.id !== undefined) return;
	recordUnmatched(context, studyUid, 'its images state no Patient ID');
}

/**
 * Finds or makes the patient whom an image names. A doubt about who that is never refuses an image: its study is stored without a patient,
 * and the doubt is on the work list until the study has one.
 */
export function patientOfStudy(context: ApplyContext, studyUid: string, named: PatientChange): string | null {
	const references = new References();
	try {
		context.set.undo.attemptPart(() => patientKind.apply(context, named, references));
		return references.patient(named.ref).id;
	} catch (error) {
		if (!(error instanceof Failure || error instanceof HeldForPerson)) throw error;
		if (error instanceof HeldForPerson) recordDoubt(context, error.doubt);
		recordUnmatched(context, studyUid, reasonOf(error));
		return null;
	}
}

/** Lists a study that has no patient. */
export function recordUnmatched(context: ApplyContext, studyUid: string, reason: string): void {
	recordDoubt(context, { kind: 'unmatched-study', key: [studyUid], text: `the study is stored without a patient: ${reason}`, studyUid });
}

function reasonOf(error: Failure | HeldForPerson): string {
	const code = error instanceof Failure ? error.code : undefined;
	if (code === 'ambiguous-key') return 'several patients have the Patient ID, and its issuer is not stated';
	if (code === 'value-too-long') return 'the Patient ID is longer than one that can be found';
	return 'the Patient ID leads to a person with other data';
}

/**
 * Tells whether an image names another patient than its study has. An image of a study that a person took from a patient may still name
 * that one, or who replaced them since.
 */
export function namesOther({ set }: ApplyContext, study: HeldStudy, named: PatientChange): boolean {
	const [identifier] = named.identifiers;
	const { stated } = study;
	const { known } = set.of(siteAuthorities);
	const system = systemOf(identifier);
	const isAsStated = stated?.id === identifier.value && (stated.system === '' || system === '' || known.isSame(stated.system, system));
	if (isAsStated) return false;
	if (study.patientId === null) return stated?.id !== undefined;
	const led = patientsLedTo(set, identifier);
	const { patientId, formerPatientIds = [], formerSurvivorIds = [] } = study;
	return !led.has(patientId) && ![...formerPatientIds, ...formerSurvivorIds].some((id) => led.has(id));
}
