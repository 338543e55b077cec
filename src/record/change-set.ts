import type { Json, JsonObject } from '#core/json.ts';
import type { DocumentEntry } from './document.ts';
import type { IdentityEdit } from './identity.ts';
import type { StoredInstance } from './instance.ts';
import type { MppsFacts, MppsSession } from './mpps.ts';
import type { ReportEdit, StudyNames } from './report.ts';
import type { SearchPlan } from './search-plan.ts';
import type { ColumnValue, ResourceType } from './table-shape.ts';

/**
 * What one message does to a site's record, as plain data. Formats write it, `record/apply` applies it to what the
 * database holds, storage writes the result. A message's changes take effect in order and all together or not at all.
 */
export interface ChangeSet {
	changes: Change[];
	/** What a person should look at, though the message was applied. Never a patient's data. */
	flags: Flag[];
}

export interface Flag {
	code:
		| 'entries-refused'
		| 'other-patient'
		| 'possible-overlay'
		| 'same-control-id'
		| 'empty-value-type'
		| 'unknown-visit'
		| 'charset-assumed'
		| 'prior-patient-unknown'
		| 'unlink-unknown'
		| 'late-report'
		| 'late-document'
		| 'not-settable'
		| 'segment-skipped'
		| 'unreadable-value';
	text: string;
}

export type Change =
	| PatientChange
	| EncounterChange
	| ObservationChange
	| ItemChange
	| MergeChange
	| UnlinkChange
	| ResourceChange
	| MppsChange
	| InstanceChange
	| ReportChange
	| ReportEditChange
	| SettlementChange
	| DocumentChange
	| IdentityChange;

/** FHIR R4 Identifier, as far as matching needs it. */
export interface Identifier extends JsonObject {
	value: string;
}

/**
 * How new content meets stored content (HL7 v2.5.1 §2.7.2 and snapshot mode): an absent element stays, `null`
 * removes, a value replaces.
 */
export interface ResourcePatch {
	/** Element name → value. One dot reaches into an object: `period.start`. */
	elements: Record<string, Json>;
	/**
	 * Lists that several fields feed, by part: `telecom` home (PID-13) and work (PID-14), `extension` by url,
	 * `participant` by type code, `identifier` by PID-3 / SS / AN / DL. A part that is absent stays as it is. Where an
	 * item's use or type would put it into another field's part, its element id names the field: `PID-13.2`. Of `contact` (NK1)
	 * and `generalPractitioner` (PD1-3, PD1-4) every item that HL7 states does; `performer` goes by the code of its function.
	 */
	parts: Record<string, Record<string, JsonObject[] | null>>;
}

/** Names the patient for all later changes of the same set: they point at it by `ref`. */
export interface PatientChange {
	kind: 'patient';
	ref: number;
	/** All identifiers of PID-3 in order; the first is the business identifier, by which the patient is matched. */
	identifiers: [Identifier, ...Identifier[]];
	patch: ResourcePatch;
	/** `update`: a known patient takes the patch (ADT). `keep`: a known patient stays as it is (ORU); a new one takes it. */
	known: 'update' | 'keep';
	/** Segment sequence, for failures found when applying. */
	sequence: number;
	/** Where its first identifier stands in a format without segments (XPath). */
	expression?: string;
	/** Security labels (`meta.security`) of the patient; absent where the format says nothing of them. */
	security?: JsonObject[];
}

export interface EncounterChange {
	kind: 'encounter';
	ref: number;
	patient: number;
	/** PV1-19, else the documented stand-ins; scoped by the patient. */
	visit: { system?: string; value: string };
	patch: ResourcePatch;
	/** What a visit that the message creates starts with, beneath the patch. */
	initial?: ResourcePatch;
	/** `upsert` creates the visit when unknown; `known-only` does nothing to an unknown one and flags it. */
	unknown: 'create' | 'flag';
}

export interface ObservationChange {
	kind: 'observation';
	patient: number;
	/** Index of an EncounterChange of the same set, when the message carried the visit. */
	encounter?: number;
	/** Filler (else placer) order number with its authority, else its application. Without one the observation is always new. */
	order?: { system: string; value: string };
	/** OBX-3 and OBX-4 (and an ordinal where they repeat in the message): what the observation is within the order. */
	item: string;
	/** The whole Observation save id, meta, subject, encounter and hasMember. */
	resource: JsonObject;
	/** Items of the same order in this message that this observation lists as `hasMember`. */
	members?: string[];
	/** The message carries a new status and no value (OBX-11 D, U, W): a known observation keeps all else. */
	statusOnly?: true;
	sequence: number;
}

/** What a segment states of a patient (AL1, DG1, PR1). The next message that states it updates it. */
export interface ItemChange {
	kind: 'item';
	resourceType: 'AllergyIntolerance' | 'Condition' | 'Procedure';
	patient: number;
	/** Index of an EncounterChange of the same set, when the message carried the visit. */
	encounter?: number;
	/** What it is recognised by within the patient: its identifier, else its code, else its text. */
	item: string;
	patch: ResourcePatch;
	/** What it starts with when the message creates it, beneath the patch. */
	initial?: ResourcePatch;
	/** `ignore`: the message withdraws it (DG1-21 D), which says nothing where it is not known. */
	unknown: 'create' | 'ignore';
}

/** ADT^A40, PRPA_IN201304UV02: `prior` becomes replaced by `survivor`. */
export interface MergeChange {
	kind: 'merge';
	survivor: number;
	/** MRG-1, first is the one that is matched; all are carried by the survivor as `use: old`. */
	prior: [Identifier, ...Identifier[]];
	sequence: number;
	/** See PatientChange. */
	expression?: string;
}

/** ADT^A37: two patients that were linked by a merge are separate again. */
export interface UnlinkChange {
	kind: 'unlink';
	first: [Identifier, ...Identifier[]];
	second: [Identifier, ...Identifier[]];
}

/** A person merges two patients or tells them apart, by their row ids. */
export interface IdentityChange {
	kind: 'identity';
	edit: IdentityEdit;
}

/** A report about a performed procedure step (PS3.4 F.7). It composes, and so never leaves its thread. */
export interface MppsChange {
	kind: 'mpps';
	sopInstanceUid: string;
	/** Of what the report says, however it is written. */
	digest: string;
	/** Of the delivery. */
	messageId: string;
	/** See MppsReport. */
	source: string;
	/** JSON text of the attributes as the report states them. */
	stated: string;
	/**
	 * The session as it is after the report; `repeated` where it is the last accepted one again.
	 * @throws Failure when the session does not take it
	 */
	compose(held: MppsSession | undefined): ComposedSession | 'repeated';
}

export interface ComposedSession extends Pick<MppsSession, 'studyUid' | 'status' | 'attributes' | 'late'> {
	facts: MppsFacts;
	flags: readonly Flag[];
}

/** An instance whose bytes lie in the object store. */
export interface InstanceChange {
	kind: 'instance';
	/** Undefined: its data set names no patient. */
	patient: number | undefined;
	instance: StoredInstance;
}

/** What an OBR and its OBX report (HL7 v2.5.1 §7.3.1). The next message about the same order updates it. */
export interface ReportChange {
	kind: 'report';
	patient: number;
	/** Index of an EncounterChange of the same set, when the message carried the visit. */
	encounter?: number;
	/** What it is recognised by; without it the report is always new. */
	key?: {
		order: { system: string; value: string };
		/** The number is no order's own and may be another patient's, too. */
		byPatient: boolean;
		/** `wholeOrder`, or what of the order it reports on. */
		item: string;
	};
	/** The OBX behind the OBR, as the order and the items of their ObservationChange. */
	observations: { order?: { system: string; value: string }; items: readonly string[] };
	/** FHIR DiagnosticReport.status as the message states it. */
	status: string;
	/** The whole DiagnosticReport save id, meta, status, subject, encounter, result and imagingStudy. */
	resource: JsonObject;
	study: StudyNames;
	/** Of the OBR. */
	sequence: number;
}

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

/** What a person does to a report by the command line or the admin API. */
export interface ReportEditChange {
	kind: 'report-edit';
	edit: ReportEdit;
	/** What the edit says of the content. */
	patch: ResourcePatch;
}

/** A person settles a conflict. */
export interface SettlementChange {
	kind: 'settlement';
	conflictId: string;
	by: string;
	/** The address that it was made from; empty: the command line. */
	source: string;
	/** Undefined: its data set names no patient, or what was stored stays. */
	patient: number | undefined;
	/** The object of the conflict, which becomes the instance; undefined: what was stored stays. */
	received: StoredInstance | undefined;
}

/** What a FHIR client asks for one resource (FHIR R4 §3.1.0). Unlike the other changes it never leaves its thread: it composes. */
export interface ResourceChange {
	kind: 'resource';
	resourceType: ResourceType;
	/** `create`: new unless the condition matches. `update`: the resource of the id, or of the condition. `patch`: a known one. */
	interaction: 'create' | 'update' | 'patch';
	/** The FHIR id that is written; undefined where the service assigns one or the condition finds it. */
	id: string | undefined;
	/** How the other changes of a transaction refer to it (Bundle.entry.fullUrl). */
	fullUrl: string | undefined;
	/** If-None-Exist, or the search of a conditional update. */
	condition: Condition | undefined;
	/** References by search (`Patient?identifier=a`), as a transaction may have them: each has to match one resource. */
	references: readonly Condition[];
	/** Versions of If-Match; `*` is any. */
	ifMatch: readonly string[] | undefined;
	/** If-None-Match: * — only when there is none yet. */
	ifNoneMatch: boolean;
	/** Whether an update may create the resource under the id that the client chose. */
	mayCreate: boolean;
	/** Whether what `Composed.patients` names has to exist. */
	checkReferences: boolean;
	/** Row ids of patients that the content will refer to; of a patch, filled in when the site's turn is taken. */
	patients: readonly string[];
	/**
	 * The content to write, from what is held and from what the full URLs of the transaction became.
	 * @throws Failure when it cannot be
	 */
	compose(held: HeldContent | undefined, resolved: ReadonlyMap<string, string>): Composed;
}

export interface Condition {
	/** The search as the client wrote it; of a reference with its type before it. */
	criteria: string;
	plan: SearchPlan;
	/** FHIR ids of what matches, two at most; filled in when the site's turn is taken. */
	matched: readonly string[] | undefined;
}

export interface HeldContent {
	/** The FHIR id. */
	id: string;
	resource: JsonObject;
	links: Readonly<Record<string, ColumnValue>>;
	/** JSON text of further members of meta, or null. */
	meta: string | null;
}

export interface Composed {
	/** Without resourceType, id and meta. */
	resource: JsonObject;
	meta: string | null;
	/** `meta.source` as the client set it. */
	source: string | undefined;
	links: Readonly<Record<string, ColumnValue>>;
	patients: readonly PatientReference[];
}

export interface PatientReference {
	rowId: string;
	/** Where it stands, as FHIRPath. */
	expression: string;
}
