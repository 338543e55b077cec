import type { JsonObject } from '#core/json.ts';
import type { DocumentEntry } from '../../document.ts';
import type { StudyNames } from '../../report.ts';
import type { Identifier } from '../../resource-patch.ts';

/** A clinical document about the patient. The next message of the same document updates it; a newer version in its set replaces it. */
export interface DocumentChange {
	kind: 'document';
	patient: number;
	/** Index of an EncounterChange of the same set, when the document names the visit. */
	encounter?: number;
	/** The key that identifies the document within the patient. */
	key: string;
	/** The set whose versions replace one another. A version without a number is ordered by its time. */
	set?: { key: string; version?: number };
	/** The time at which the document was made, ISO 8601 in UTC; '' when it states none. */
	statedAt: string;
	relations: readonly DocumentRelation[];
	/**
	 * The whole DocumentReference without id, meta, status, subject, relatesTo, context.encounter, context.related and the URLs of `bytes`.
	 */
	resource: JsonObject;
	/** The bytes of each content, which become a Binary; null when the content is stored elsewhere. */
	bytes: readonly (Uint8Array | null)[];
	/** True when it is about other patients too. Each of them gets the document as their own. */
	isShared: boolean;
	entries: readonly DocumentEntry[];
	study: StudyNames;
	/** The XPath of its id. */
	expression: string;
}

/** A parent document. */
export interface DocumentRelation {
	/** FHIR document-relationship-type. */
	code: 'replaces' | 'appends' | 'transforms';
	key?: string;
	set?: { key: string; version?: number };
	/** The identifier to reference when the parent is not known. */
	identifier: Identifier;
}
