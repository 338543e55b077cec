import type { Change, PatientChange } from '#record/change-set.ts';
import type { Message } from '../message.ts';
import type { Context } from '../segments/context.ts';
import { flagFurtherPatients, patientChange, requirePid } from '../segments/pid.ts';
import { type EncounterOptions, encounterChange } from '../segments/pv1.ts';

/** What ADT events about one patient and one visit have in common: PID, and PV1 when the message has it. */
export function patientAndVisit(
	message: Message,
	known: PatientChange['known'],
	visit: Omit<EncounterOptions, 'known'>,
	context: Context,
): Change[] {
	const pid = requirePid(message);
	flagFurtherPatients(message, context);
	const patient = patientChange(pid, 0, { known }, context);
	const encounter = encounterChange(message.first('PV1'), pid, 0, 0, { ...visit, known: 'update' }, context);
	return encounter === undefined ? [patient] : [patient, encounter];
}

/** ADT events about a person: demographics, no visit. */
export function patientOnly(message: Message, context: Context): Change[] {
	const pid = requirePid(message);
	flagFurtherPatients(message, context);
	return [patientChange(pid, 0, { known: 'update' }, context)];
}
