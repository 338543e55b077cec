import type { Json, JsonObject } from '#core/json.ts';

/**
 * Tells whether the known name of a person, organization or place stays, because a message states nothing beyond it: fields of one message, and
 * messages of several senders, write one name with and without its given names, degrees and titles, or a ward with and without its facility.
 * A number is no name. Anything else that differs is a new name.
 */
export function keepsName(known: Json, stated: Json | undefined, numbers: readonly string[]): boolean {
	if (stated === undefined) return true;
	if (typeof known === 'string' && typeof stated === 'string') {
		const parts = known.split(', ');
		return numbers.includes(stated) || stated.split(', ').every((part) => parts.includes(part));
	}
	if (!Array.isArray(known) || !Array.isArray(stated)) return false;
	const [held, said] = [known[0], stated[0]] as (JsonObject | undefined)[];
	if (held === undefined || said === undefined) return false;
	if (said['family'] !== undefined && folded(said['family']) !== folded(held['family'])) return false;
	return ['given', 'prefix', 'suffix'].every((part) => isWithin(said[part], held[part]));
}

function isWithin(stated: Json | undefined, known: Json | undefined): boolean {
	if (!Array.isArray(stated)) return true;
	const parts = Array.isArray(known) ? known.map(folded) : [];
	return stated.map(folded).every((part) => parts.some((other) => other === part || (isInitial(part) && other.startsWith(part.charAt(0)))));
}

function isInitial(part: string): boolean {
	return /^\p{L}\.?$/u.test(part);
}

function folded(text: Json | undefined): string {
	return typeof text === 'string' ? text.trim().toLowerCase() : '';
}
