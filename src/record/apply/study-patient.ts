import { Failure } from '#core/failure.ts';
import { siteAuthorities } from '../holdings/site-authorities.ts';
import { recordDoubt } from '../identity/doubt.ts';
import { HeldForPerson } from '../identity/held.ts';
import { systemOf } from '../identity/identifier-key.ts';
import { patientsLedTo } from '../identity/leads.ts';
import type { HeldStudy, StatedPatient } from '../imaging.ts';
import type { InstancePatient } from '../instance.ts';
import { type PatientChange, patientKind } from '../kinds/patient.ts';
import type { ApplyContext } from './context.ts';
import { References } from './references.ts';

/** Returns the patient as an image names them. */
export function statedPatient({ identifiers: [identifier] }: PatientChange, name: InstancePatient['name']): StatedPatient {
	const { family = '', given = '' } = name ?? {};
	return { id: identifier.value, system: systemOf(identifier), name: `${family}^${given}`.replace(/\^$/, '') };
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
		recordDoubt(context, {
			kind: 'unmatched-study',
			key: [studyUid],
			text: `the study is stored without a patient: ${reasonOf(error)}`,
			studyUid,
		});
		return null;
	}
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
	if (study.patientId === null) return stated !== undefined;
	const led = patientsLedTo(set, identifier);
	const { patientId, formerPatientIds = [], formerSurvivorIds = [] } = study;
	return !led.has(patientId) && ![...formerPatientIds, ...formerSurvivorIds].some((id) => led.has(id));
}
