import { createHash } from 'node:crypto';

/** A key with more characters is stored as its SHA-256. */
const charactersMax = 250;

/** Returns the key that identifies an item of a patient, for a text of any length. */
export function itemKey(text: string): string {
	return text.length <= charactersMax ? text : createHash('sha256').update(text).digest('hex');
}

/**
 * Returns the key of an item with an identifier. The word and the space distinguish it from codes and texts, because no system's URI has a
 * space.
 */
export function identifierItem({ system, value }: { system: string; value: string }): string {
	return itemKey(`identifier ${system}|${value}`);
}

/** Returns what a CodeableConcept is from message to message: the first code with its system, else the text. */
export function codeName(concept: { coding?: readonly { system?: string; code?: string }[]; text?: string } = {}): string {
	const coding = concept.coding?.[0];
	return coding === undefined ? `|${concept.text ?? ''}` : `${coding.system ?? ''}|${coding.code ?? ''}`;
}
