import { Failure, type FailureLocation } from '#core/failure.ts';
import { recordDoubt } from '../identity/doubt.ts';
import { HeldForPerson } from '../identity/held.ts';
import { learnAuthority } from '../identity/learn.ts';
import { fieldName, identifyPatient } from '../identity/match.ts';
import { noteMismatch } from '../identity/notes.ts';
import type { PatientChange } from '../kinds/patient.ts';
import { settingOf } from '../settings/settings.ts';
import type { ApplyContext } from './context.ts';
import type { Row } from './rows.ts';
import { linkNamed } from './study-link.ts';

/** The studies of a procedure step. */
export interface StepStudies {
	uids: readonly string[];
	accession: string | undefined;
}

/**
 * Gives the studies of a procedure step that have no patient the one whom the step names, as a report does. A step makes no patient and
 * changes none. A mismatch is noted when the step names its patient for the first time, or otherwise than before; what is held stays so.
 */
export function settleStudies(context: ApplyContext, { uids, accession }: StepStudies, named: PatientChange, isNewlyNamed: boolean): void {
	for (const stated of named.authorities ?? []) learnAuthority(context, stated);
	const patient = patientOf(context, named);
	const isCompared = isNewlyNamed || settingOf(context.message.settings, 'mismatch') === 'hold';
	if (patient === undefined || (isCompared && !isTaken(context, patient, named))) return;
	for (const uid of uids) linkNamed(context, { uid, accession: undefined, filler: undefined }, patient);
	if (accession !== undefined) linkNamed(context, { uid: undefined, accession, filler: undefined }, patient);
}

function locationOf({ expression = 'Patient ID' }: PatientChange): FailureLocation {
	return { expression };
}

/** Finds the patient of a step. A number that leads to nobody for sure tells nothing: a step has no patient of its own in the record. */
function patientOf({ set }: ApplyContext, named: PatientChange): Row | undefined {
	try {
		return identifyPatient(set, named, locationOf(named))?.current;
	} catch (error) {
		if (error instanceof Failure && (error.code === 'ambiguous-key' || error.code === 'value-too-long')) return undefined;
		throw error;
	}
}

/** Carries out the setting `mismatch`. A step that is held is recorded, because the reports behind it need it; it settles no study. */
function isTaken(context: ApplyContext, patient: Row, named: PatientChange): boolean {
	try {
		noteMismatch(context, patient, named.patch.elements, fieldName(locationOf(named)), 'kept');
		return true;
	} catch (error) {
		if (!(error instanceof HeldForPerson)) throw error;
		context.flags.push({ code: 'mismatch', text: error.doubt.text });
		recordDoubt(context, error.doubt);
		return false;
	}
}
