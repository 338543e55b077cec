import type { JsonObject } from '#core/json.ts';
import type { DocumentEntry } from '../../document.ts';
import type { StudyNames } from '../../report.ts';
import type { Identifier } from '../../resource-patch.ts';

/** A clinical document about the patient. The next message of the same document updates it; a newer version of its set replaces it. */
export interface DocumentChange {
	kind: 'document';
	patient: number;
	/** Index of an EncounterChange of the same set, when the document names the visit. */
	encounter?: number;
	/** What the document is recognised by within the patient. */
	key: string;
	/** The set whose versions replace one another; a version that states no number counts by its time. */
	set?: { key: string; version?: number };
	/** ISO 8601 in UTC, of when the document was made; '' where it does not say. */
	statedAt: string;
	relations: readonly DocumentRelation[];
	/** The whole DocumentReference save id, meta, status, subject, relatesTo, context.encounter, context.related and the URLs of `bytes`. */
	resource: JsonObject;
	/** Of each content, what becomes a Binary; null where it lies elsewhere. */
	bytes: readonly (Uint8Array | null)[];
	/** Whether it is about other patients, too: each has the document as its own. */
	isShared: boolean;
	entries: readonly DocumentEntry[];
	study: StudyNames;
	/** Where its id stands (XPath). */
	expression: string;
}

/** A parent document. */
export interface DocumentRelation {
	/** FHIR document-relationship-type. */
	code: 'replaces' | 'appends' | 'transforms';
	key?: string;
	set?: { key: string; version?: number };
	/** What it refers to where the parent is not known. */
	identifier: Identifier;
}
