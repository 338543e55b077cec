import { createHash } from 'node:crypto';

/** A key of more characters is kept as its SHA-256. */
const charactersMax = 250;

/** What an item of a patient is recognised by: a text of any length as a key. */
export function itemKey(text: string): string {
	return text.length <= charactersMax ? text : createHash('sha256').update(text).digest('hex');
}

/** The same of what has an identifier. The word and the space tell it from codes and texts: no system's URI has a space. */
export function identifierItem({ system, value }: { system: string; value: string }): string {
	return itemKey(`identifier ${system}|${value}`);
}
