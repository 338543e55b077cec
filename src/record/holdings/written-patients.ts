import type { Holding } from '../apply/holding.ts';

/**
 * Patients whose resource a FHIR client writes; the keys are row ids. Those that replaced others are read with the patients that they
 * replaced, because the links of a merge stay whatever the client writes.
 */
export const writtenPatients: Holding<Set<string>, undefined> = {
	name: 'written patients',
	keys: () => new Set(),
	held: () => undefined,
};
