import { codingCode, ssnSystem } from '../apply/patch.ts';
import type { Identifier } from '../resource-patch.ts';

/**
 * Table 0203: accounts (AN, ANC, AND, ANT), a visit (VN), the social security number (SS), a driver's licence (DL), a guarantor (GN) and a
 * subscriber (SN), whom a family may share.
 */
const otherNumbers: ReadonlySet<string> = new Set(['AN', 'ANC', 'AND', 'ANT', 'VN', 'SS', 'DL', 'GN', 'SN']);

/** Tells whether a number identifies a patient by its type. A number without a type does. */
export function identifies(identifier: Identifier): boolean {
	if (identifier['system'] === ssnSystem) return false;
	return identifier['type'] === undefined || !otherNumbers.has(codingCode(identifier['type']));
}

/** Returns the numbers that identify the patient of a message; the first one if no type says that it does. */
export function identifying(identifiers: readonly Identifier[]): readonly Identifier[] {
	if (identifiers.length === 1) return identifiers;
	const found = identifiers.filter(identifies);
	return found.length > 0 ? found : identifiers.slice(0, 1);
}

export function isMedicalRecordNumber(identifier: Identifier): boolean {
	return codingCode(identifier['type']) === 'MR';
}
