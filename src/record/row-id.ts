import { createHash } from 'node:crypto';

/** Ids that the service assigns; version 8 is kept for rows whose id a client chose. */
const assigned = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-79a-f][0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}$/;

/** FHIR R4 §2.24.0.1, type id. */
const fhirId = /^[A-Za-z0-9\-.]{1,64}$/;

export function isFhirId(text: string): boolean {
	return fhirId.test(text);
}

/**
 * The id of a resource's row: the FHIR id itself where it is a UUID in lower case, else a UUID version 8 (RFC 9562 §5.8)
 * made of its SHA-256. So every key and every reference is 16 bytes, and no table is asked on the way.
 */
export function rowIdOf(id: string): string {
	if (assigned.test(id)) return id;
	const hex = createHash('sha256').update(id).digest('hex');
	return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-8${hex.slice(13, 16)}-a${hex.slice(17, 20)}-${hex.slice(20, 32)}`;
}

/** What a row keeps of an id beside its own: the id itself, where the row's is derived from it. */
export function givenIdOf(id: string): string | null {
	return assigned.test(id) ? null : id;
}
