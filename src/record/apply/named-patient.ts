import type { AnyChange, NamedPatient } from './change-kind.ts';

/** Returns the identifier value by which a message names the patient of one of its changes. */
export function patientNamed(ref: number, message: readonly AnyChange[]): string {
	for (const change of message) if (isPatient(change) && change.ref === ref) return change.identifiers[0].value;
	throw new Error('a change names a patient that its message does not');
}

function isPatient(change: AnyChange): change is AnyChange & NamedPatient {
	return change.kind === 'patient';
}
