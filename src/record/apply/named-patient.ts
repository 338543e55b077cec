import { identifying } from '../identity/identifying.ts';
import type { AnyChange, NamedPatient } from './change-kind.ts';

/** Returns the identifier values by which a message names the patient of one of its changes. */
export function patientNamed(ref: number, message: readonly AnyChange[]): string[] {
	for (const change of message) {
		if (isPatient(change) && change.ref === ref) return identifying(change.identifiers).map(({ value }) => value);
	}
	throw new Error('a change names a patient that its message does not');
}

function isPatient(change: AnyChange): change is AnyChange & NamedPatient {
	return change.kind === 'patient';
}
