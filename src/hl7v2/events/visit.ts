import type { EncounterChange } from '#record/kinds/encounter.ts';
import type { Change } from '#record/kinds/index.ts';
import type { PatientChange } from '#record/kinds/patient.ts';
import { referenceName } from '#record/person-or-place.ts';
import type { Message } from '../message.ts';
import type { Context } from '../segments/context.ts';
import { eventTime } from '../segments/evn.ts';
import { addDemographics, itemChanges, patientGroup } from '../segments/patient-group.ts';
import { flagFurtherPatients, patientChange, requirePid } from '../segments/pid.ts';
import { type EncounterOptions, encounterChange } from '../segments/pv1.ts';
import { practitionersOfPatient, visitRoles } from '../segments/rol.ts';

/** Returns the changes that ADT events about one patient and one visit share: PID, and PV1 if the message has it. */
export function patientAndVisit(
	message: Message,
	known: PatientChange['known'],
	visit: Omit<EncounterOptions, 'known'>,
	context: Context,
): Change[] {
	const pid = requirePid(message);
	flagFurtherPatients(message, context);
	const patient = patientChange(pid, 0, { known }, context);
	const pv1 = message.first('PV1');
	const roles = visitRoles(message, pv1, context);
	const encounter = encounterChange(pv1, pid, 0, 0, { at: () => eventTime(message, context), ...visit, roles, known: 'update' }, context);
	return withGroup(message, patient, encounter, context);
}

/** ADT events about a person: demographics, no visit. */
export function patientOnly(message: Message, context: Context): Change[] {
	const pid = requirePid(message);
	flagFurtherPatients(message, context);
	return withGroup(message, patientChange(pid, 0, { known: 'update' }, context), undefined, context);
}

/** Adds the general practitioners of ROL to those of PD1, each once. */
function addPractitioners({ patch: { parts } }: PatientChange, message: Message, context: Context): void {
	const people = practitionersOfPatient(message, requirePid(message), context);
	if (people.length === 0) return;
	const held = parts['generalPractitioner'] ?? {};
	const told = new Set(Object.values(held).flatMap((list) => (list ?? []).map(referenceName)));
	const further = people.filter((reference) => reference.identifier === undefined || !told.has(referenceName(reference)));
	if (further.length === 0) return;
	parts['generalPractitioner'] = { ...held, 'ROL-4': further.map((reference, index) => ({ id: `ROL-4.${index + 1}`, ...reference })) };
}

/** Segments of ADT that state clinical facts and are not mapped. */
const unread = ['OBX', 'IAM'] as const;

function flagUnread(message: Message, context: Context): void {
	const counts = unread.map((id) => ({ id, count: message.all(id).length })).filter(({ count }) => count > 0);
	if (counts.length === 0) return;
	const named = counts.map(({ id, count }) => `${count} ${id}`).join(' and ');
	context.flag('segment-skipped', `${named} left out: these segments are not read in ADT`);
}

/** Adds the facts about the patient beside PID and PV1. */
function withGroup(message: Message, patient: PatientChange, encounter: EncounterChange | undefined, context: Context): Change[] {
	flagUnread(message, context);
	const group = patientGroup(message);
	addDemographics(patient, group, context);
	addPractitioners(patient, message, context);
	const items = itemChanges(group, { patient: patient.ref, encounter: encounter?.ref }, context);
	return encounter === undefined ? [patient, ...items] : [patient, encounter, ...items];
}
