import type { JsonObject } from '#core/json.ts';

/** Types of resources that the entries of a document may become. */
export type EntryType = 'AllergyIntolerance' | 'Condition' | 'DiagnosticReport' | 'Observation' | 'Procedure';

/** One entry of a clinical document, stated about its patient. */
export interface DocumentEntry {
	resourceType: EntryType;
	/**
	 * The key that identifies it within the patient: a digest of its first id, else of its content and place. It is unique within the
	 * document.
	 */
	item: string;
	/**
	 * Other keys under which documents may have stated it: how exact a key has to be depends on what else a document holds.
	 */
	otherItems?: OtherItems;
	/** The whole resource without id, meta, subject or patient, encounter and the elements that `refers` fills in. */
	resource: JsonObject;
	/** Entries of the same document by the element that lists them, such as `hasMember` and `result`. */
	refers?: Readonly<Record<string, readonly EntryReference[]>>;
	/** The keys by which messages find the resource, by column. Columns without a key are absent. */
	keys?: Readonly<Record<string, string>>;
	/** The studies of a DiagnosticReport. `imagingStudy` is filled in from them. */
	studies?: DocumentStudies;
}

/** The most exact first. */
export interface OtherItems {
	/** Keys that tell more than `item`. */
	exact: readonly string[];
	/** Keys that tell less, which other entries of the document may have, too. */
	general: readonly string[];
}

/** The studies that a document names: by their UIDs, else by an accession number. */
export interface DocumentStudies {
	/** Study Instance UIDs. */
	uids: readonly string[];
	accession: string | undefined;
}

export interface EntryReference {
	resourceType: EntryType;
	item: string;
}
