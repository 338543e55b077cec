import type { JsonObject } from '#core/json.ts';

/** Types of resources that entries of a document become. */
export type EntryType = 'AllergyIntolerance' | 'Condition' | 'DiagnosticReport' | 'Observation' | 'Procedure';

/** What one entry of a clinical document states of its patient. */
export interface DocumentEntry {
	resourceType: EntryType;
	/** What it is recognised by within the patient: a digest of its first id, else of its content and place. Unique within the document. */
	item: string;
	/** The whole resource save id, meta, subject or patient, encounter and what `refers` fills in. */
	resource: JsonObject;
	/** Element → entries of the same document that it lists, as `hasMember` and `result` do. */
	refers?: Readonly<Record<string, readonly EntryReference[]>>;
	/** The keys by which messages find the resource, by column; those that it has none for are absent. */
	keys?: Readonly<Record<string, string>>;
	/** Of a DiagnosticReport: the studies that it is about, from which `imagingStudy` is filled in. */
	studies?: DocumentStudies;
}

/** By what a document names studies: their UIDs, else an accession number. */
export interface DocumentStudies {
	/** Study Instance UIDs. */
	uids: readonly string[];
	accession: string | undefined;
}

export interface EntryReference {
	resourceType: EntryType;
	item: string;
}
