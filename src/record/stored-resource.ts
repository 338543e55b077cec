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
