import type { FailureRecord } from '#core/failure.ts';
import type { Flag } from './change-set.ts';
import type { ResourceType } from './table-shape.ts';

export const deliverySurfaces = ['mllp', 'hl7-http', 'fhir', 'mpps', 'dimse', 'dicomweb', 'replay', 'administration'] as const;
export type DeliverySurface = (typeof deliverySurfaces)[number];

/** What a sender's integration client allows beyond the specification; crosses the thread boundary. */
export interface Hl7v2Policy {
	/** Further events the client opted into: `A03`, … */
	also: readonly string[];
	/** Events that are acknowledged and otherwise ignored. */
	ignore: readonly string[];
	/** Enhanced acknowledgement mode (HL7 v2.5.1 §2.9.3): MSH-15/16 are honoured. */
	enhancedAck: boolean;
	/** The site's assigning authority for identifiers that name none; a FHIR system URI. */
	defaultAuthority: string | undefined;
}

/** What a site lets FHIR clients do. */
export interface FhirPolicy {
	/** A PUT to an id that is free creates the resource under it. */
	updateCreates: boolean;
	/** `Patient/<id>` in a resource has to exist. */
	checkReferences: boolean;
}

interface AnyDelivery {
	/** The message's id in the message log; stays the same when a batch is tried again. */
	id: string;
	siteId: string;
	/** Integration client; the nil id on HTTP. */
	clientId: string;
	surface: DeliverySurface;
	/** The sender's address, or the API key's public id on HTTP. */
	source: string;
	receivedAtMs: number;
	bytes: Uint8Array;
	/** Set when processing it ended the worker twice: it is logged as refused and not looked at again. */
	withheld?: true;
	/** Set when an operator replays a logged message: the id of that message. */
	replayOf?: string;
}

export interface Hl7v2Delivery extends AnyDelivery {
	kind: 'hl7v2';
	policy: Hl7v2Policy;
}

/** The body of `POST /v3/ingest`: an HL7 v3 message or CDA document, as it is or in a SOAP envelope. */
export interface Hl7v3Delivery extends AnyDelivery {
	kind: 'hl7v3';
	/** The site's assigning authority for identifiers that name none; a FHIR system URI. */
	defaultAuthority: string | undefined;
}

/** A FHIR request that writes: `bytes` are its head and body (fhir/write/request). */
export interface FhirDelivery extends AnyDelivery {
	kind: 'fhir';
	policy: FhirPolicy;
}

/**
 * A report about a procedure step. `report`: the body of `POST /ingest`. `create`, `set`: N-CREATE and N-SET of DIMSE, as
 * `{"sop_instance_uid", "attributes"}` with the attributes in the DICOM JSON Model.
 */
export interface MppsDelivery extends AnyDelivery {
	kind: 'mpps';
	operation: 'report' | 'create' | 'set';
}

/** An instance on its way into the index: `bytes` are what `packImage` makes of it; the answer is the `IndexAnswer`. */
export interface ImageDelivery extends AnyDelivery {
	kind: 'image';
	/** The site's assigning authority for patient ids whose issuer is not named. */
	defaultAuthority: string | undefined;
}

/** What a person does to a report: `bytes` are its `ReportEdit` in JSON; the answer is the `ReportEditOutcome`. */
export interface ReportDelivery extends AnyDelivery {
	kind: 'report';
}

/** A person's decision about a conflict, on its way into the index: `bytes` are a `ConflictDecision` in JSON. */
export interface ConflictDelivery extends AnyDelivery {
	kind: 'conflict';
	/** As of an image. */
	defaultAuthority: string | undefined;
}

/** A person merges two patients, or tells them apart again: `bytes` are an `IdentityEdit` in JSON; the answer is the `IdentityOutcome`. */
export interface IdentityDelivery extends AnyDelivery {
	kind: 'identity';
}

/** One inbound message on its way to its site's mailbox and worker. */
export type Delivery =
	| Hl7v2Delivery
	| Hl7v3Delivery
	| FhirDelivery
	| MppsDelivery
	| ImageDelivery
	| ReportDelivery
	| ConflictDelivery
	| IdentityDelivery;

/** `duplicate`: it was accepted before and is answered again, without effect. */
export type Outcome = 'accepted' | 'refused' | 'ignored' | 'duplicate';

/** What the sender is told; exists only after the transaction is committed. */
export interface Reply {
	id: string;
	outcome: Outcome;
	/**
	 * `ADT^A08`; empty when the message had none. `PRPA_IN201301UV02`, or `HL7v3` where it is no interaction; `CDA 34133-9`. Of a FHIR request its method and resource type: `PUT Patient`. Of a report about
	 * a procedure step `MPPS` and its status, or `MPPS N-CREATE`, `MPPS N-SET`.
	 */
	messageType: string;
	controlId: string;
	/**
	 * Rendered acknowledgements in the sender's character set, without MLLP framing: one, or 0–2 in enhanced mode. Of a FHIR
	 * request the body of the answer, or one part for each entry of a Bundle. Of a report about a procedure step its answer in JSON.
	 */
	acks: Uint8Array[];
	failure?: FailureRecord;
	flags: Flag[];
	/** FHIR statuses of the versions of reports (DiagnosticReport) that the message wrote. */
	reports?: string[];
	/** Of a FHIR request: what its answer says beside the body. */
	answer?: FhirAnswer;
}

export interface FhirAnswer {
	/** HTTP status. */
	status: number;
	/** Of a single resource that was written or found. */
	resource?: { type: ResourceType; id: string; version: number; lastUpdated: string };
	/** Of a Bundle: its type, and the entries that only read. Those are carried out after the commit; their parts are empty. */
	bundle?: { type: 'batch-response' | 'transaction-response'; reads: BundleRead[] };
}

export interface BundleRead {
	index: number;
	/** `Patient/1`, `Patient?name=a` */
	url: string;
	ifNoneMatch: string | undefined;
}
