import { createHash } from 'node:crypto';

/** Matches ids that the service assigns. Version 8 is reserved for rows whose id a client chose. */
const assigned = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-79a-f][0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}$/;

/** FHIR R4 §2.24.0.1, type id. */
const fhirId = /^[A-Za-z0-9\-.]{1,64}$/;

export function isFhirId(text: string): boolean {
	return fhirId.test(text);
}

/**
 * Returns the id of a resource's row: the FHIR id itself if it is a UUID in lower case, else a UUID version 8 (RFC 9562 §5.8) made of its
 * SHA-256. So every key and every reference takes 16 bytes, and no lookup is needed.
 */
export function rowIdOf(id: string): string {
	if (assigned.test(id)) return id;
	const hex = createHash('sha256').update(id).digest('hex');
	return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-8${hex.slice(13, 16)}-a${hex.slice(17, 20)}-${hex.slice(20, 32)}`;
}

/** Returns the id that a row keeps beside its own: the FHIR id, if the row's id is derived from it. */
export function givenIdOf(id: string): string | null {
	return assigned.test(id) ? null : id;
}
