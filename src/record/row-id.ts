import { namedId } from '#core/id.ts';

/** Matches ids that the service assigns. Version 8 is reserved for rows whose id a client chose. */
const assigned = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-79a-f][0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}$/;

/** FHIR R4 §2.24.0.1, type id. */
const fhirId = /^[A-Za-z0-9\-.]{1,64}$/;

export function isFhirId(text: string): boolean {
	return fhirId.test(text);
}

/**
 * Returns the id of a resource's row: the FHIR id itself if it is a UUID in lower case, else a UUID version 8 made of its SHA-256. So every key and
 * every reference takes 16 bytes, and no lookup is needed.
 */
export function rowIdOf(id: string): string {
	return assigned.test(id) ? id : namedId(id);
}

/** Returns the id that a row keeps beside its own: the FHIR id, if the row's id is derived from it. */
export function givenIdOf(id: string): string | null {
	return assigned.test(id) ? null : id;
}
