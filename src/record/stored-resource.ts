/** A resource in the database: JSON text without resourceType, id and meta. */
export interface StoredResource {
	id: string;
	version: string;
	/** FHIR instant. */
	lastUpdated: string;
	source: string | null;
	/** JSON text of further members of meta, or null. */
	meta: string | null;
	text: string;
}

/** The text of a deletion, the version after which a resource is gone. It is JSON and no object, so no resource has it. */
export const deletionText = 'null';

/** Tells whether the version is a deletion. */
export function isDeletion({ text }: Pick<StoredResource, 'text'>): boolean {
	return text === deletionText;
}
