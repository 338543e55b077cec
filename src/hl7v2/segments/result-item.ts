import type { CodeableConcept } from '#fhir/datatypes.ts';
import { codeName, itemKey } from '#record/item-key.ts';

/** Returns the key of a result within its order: its code (OBX-3, else OBR-4), its sub-id (OBX-4), and its parent, if it has one. */
export function resultItem(code: CodeableConcept | undefined, subId: string, parent = ''): string {
	return itemKey(`${parent}${codeName(code)}|${subId.trim()}`);
}

/** Returns the key of a report within its order, if it is no imaging report: one OBR-4, of one parent, is one report. */
export function reportItem(code: CodeableConcept | undefined, parent = ''): string {
	return itemKey(`${parent}report ${codeName(code)}`);
}
