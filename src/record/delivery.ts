import type { FailureRecord } from '#core/failure.ts';
import type { Flag } from './flag.ts';
import type { IdentityOutcome } from './identity/edit.ts';
import type { DecisionAnswer, IndexAnswer } from './instance.ts';
import type { DimseStatus } from './procedure-step.ts';
import type { RederivationAnswer } from './rederivation.ts';
import type { ReportEditOutcome } from './report.ts';
import type { Scopes } from './scopes.ts';
import type { Settings } from './settings/settings.ts';
import type { ResourceType } from './table-shape.ts';
import type { TraceIds } from './trace-ids.ts';

export const deliverySurfaces = ['mllp', 'hl7-http', 'fhir', 'mpps', 'dimse', 'dicomweb', 'replay', 'administration'] as const;
export type DeliverySurface = (typeof deliverySurfaces)[number];

interface AnyDelivery {
	/** The message's id in the message log. It stays the same when a batch is tried again. */
	id: string;
	siteId: string;
	/** Integration client; the nil id on HTTP. */
	clientId: string;
	surface: DeliverySurface;
	/** The sender's address, or the API key's public id on HTTP. */
	source: string;
	receivedAtMs: number;
	/** The settings of the sender, else of its site. They cross the thread boundary once for all messages of a sender in a batch. */
	settings: Settings;
	bytes: Uint8Array;
	/** Set when processing it ended the worker twice, or took too much processor time twice: it is logged as refused and not processed again. */
	withheld?: 'crash' | 'time';
	/** Set when an operator replays a logged message: the id of that message. */
	replayOf?: string;
	/** Set when it is carried out only to see what would become of it: it is answered, and nothing of it is stored. */
	rehearsal?: true;
	/** Set when the request or message that brought it is traced. */
	trace?: TraceIds | undefined;
}

/** Names a delivery in the log, and the trace that it belongs to. Nothing of its content is among them. */
export function idsOf({
	id,
	siteId,
	trace,
}: Pick<AnyDelivery, 'id' | 'siteId' | 'trace'>): { messageId: string; siteId: string } & Partial<TraceIds> {
	return { messageId: id, siteId, ...trace };
}

export interface Hl7v2Delivery extends AnyDelivery {
	kind: 'hl7v2';
	/** `administration`: a test message. */
	surface: 'mllp' | 'hl7-http' | 'replay' | 'administration';
	/** Says something of the batch in which it came. */
	batchFlag?: Flag | undefined;
}

/** The body of `POST /v3/ingest`: an HL7 v3 message or CDA document, alone or in a SOAP envelope. */
export interface Hl7v3Delivery extends AnyDelivery {
	kind: 'hl7v3';
	surface: 'hl7-http' | 'replay';
}

/** Acknowledgements in the sender's character set, without MLLP framing: one, or 0–2 in enhanced mode of HL7 v2. */
export interface Hl7Answer {
	acknowledgements: readonly Uint8Array[];
}

/** A FHIR request that writes: `bytes` are its head and body (fhir/write/request). */
export interface FhirDelivery extends AnyDelivery {
	kind: 'fhir';
	surface: 'fhir' | 'replay';
	/** The caller's access token permits these. Absent for an API key, which permits everything. */
	scopes?: Scopes | undefined;
	/** The number of the state of the profiles and terms that the site has loaded; absent where it has loaded none. */
	definitions?: string;
}

export type FhirAnswer =
	| {
			kind: 'resource';
			/** HTTP status. */
			status: number;
			/** JSON; empty when the client asked for none. */
			body: Uint8Array;
			/** The resource that was written or found; absent when there is none to name. */
			resource?: { type: ResourceType; id: string; version: number; lastUpdated: string };
	  }
	| {
			kind: 'bundle';
			type: 'batch-response' | 'transaction-response';
			/** The JSON answer to each entry of the request; empty for the entries in `reads`. */
			entries: readonly Uint8Array[];
			/** The entries that only read. They are carried out after the commit. */
			reads: readonly BundleRead[];
	  };

export interface BundleRead {
	index: number;
	/** `Patient/1`, `Patient?name=a` */
	url: string;
	ifNoneMatch: string | undefined;
	/** An instant of FHIR. */
	ifModifiedSince: string | undefined;
}

/**
 * A report about a procedure step. `report`: the body of `POST /ingest`. `create`, `set`: N-CREATE and N-SET of DIMSE, as
 * `{"sop_instance_uid", "attributes"}` with the attributes in the DICOM JSON Model.
 */
export interface MppsDelivery extends AnyDelivery {
	kind: 'mpps';
	surface: 'mpps' | 'dimse' | 'replay';
	operation: 'report' | 'create' | 'set';
}

/** The body of the HTTP answer to a report, or the DIMSE status of N-CREATE and N-SET. */
export type MppsAnswer = MppsReportAnswer | DimseStatus;

export type MppsReportAnswer = { success: true; session_id: string } | { success: false; error: string };

/** The slot in which a thread tells that an object which it writes is durable. */
export interface Placing {
	slot: number;
	/** The number of times that the slot was taken. */
	turn: number;
}

/** An instance to be indexed; `bytes` are made by `packInstance`. */
export interface InstanceDelivery extends AnyDelivery {
	kind: 'instance';
	surface: 'dimse' | 'dicomweb';
	/** Set when its object is still being written. */
	placing?: Placing;
}

/** A person edits a report: `bytes` are a `ReportEdit` in JSON. */
export interface ReportDelivery extends AnyDelivery {
	kind: 'report';
	surface: 'administration';
}

/** A person decides a conflict of images: `bytes` are a `ConflictDecision` in JSON. */
export interface ConflictDelivery extends AnyDelivery {
	kind: 'conflict';
	surface: 'dimse';
}

/** A person merges two patients, or tells them apart again: `bytes` are an `IdentityEdit` in JSON. */
export interface IdentityDelivery extends AnyDelivery {
	kind: 'identity';
	surface: 'administration';
}

/** A run reads the times of a few messages and studies anew: `bytes` are made by `packStep`. */
export interface RederivationDelivery extends AnyDelivery {
	kind: 'rederivation';
	surface: 'administration';
}

/** Each kind of delivery with its answer. The file of a kind in `ingest/kinds` tells how it is read and answered. */
interface DeliveryContracts {
	hl7v2: { delivery: Hl7v2Delivery; answer: Hl7Answer };
	hl7v3: { delivery: Hl7v3Delivery; answer: Hl7Answer };
	fhir: { delivery: FhirDelivery; answer: FhirAnswer };
	mpps: { delivery: MppsDelivery; answer: MppsAnswer };
	instance: { delivery: InstanceDelivery; answer: IndexAnswer };
	report: { delivery: ReportDelivery; answer: ReportEditOutcome };
	conflict: { delivery: ConflictDelivery; answer: DecisionAnswer };
	identity: { delivery: IdentityDelivery; answer: IdentityOutcome };
	rederivation: { delivery: RederivationDelivery; answer: RederivationAnswer };
}

export const deliveryKinds = ['hl7v2', 'hl7v3', 'fhir', 'mpps', 'instance', 'report', 'conflict', 'identity', 'rederivation'] as const;
export type DeliveryKind = (typeof deliveryKinds)[number];
export type DeliveryOf<Kind extends DeliveryKind> = DeliveryContracts[Kind]['delivery'];
export type AnswerOf<Kind extends DeliveryKind> = DeliveryContracts[Kind]['answer'];

/** One inbound message to be processed by its site's mailbox and worker. */
export type Delivery = DeliveryOf<DeliveryKind>;

/** Kinds that nothing recognises when they come again: neither the message log nor what they write names them. */
export const unrecognisedKinds: ReadonlySet<DeliveryKind> = new Set(['fhir', 'report']);

/** `duplicate` means that it was accepted before and is answered again, without effect. */
export type Outcome = 'accepted' | 'refused' | 'ignored' | 'duplicate';

/** The answer to the sender. It exists only after the transaction is committed. */
export interface Reply<Answer = AnswerOf<DeliveryKind>> {
	id: string;
	outcome: Outcome;
	/**
	 * `ADT^A08`; empty when the message had none. `PRPA_IN201301UV02`, or `HL7v3` where it is no interaction; `CDA 34133-9`. The method
	 * and resource type of a FHIR request: `PUT Patient`. `MPPS` and the status of a report about a procedure step, or `MPPS N-CREATE`,
	 * `MPPS N-SET`.
	 */
	messageType: string;
	controlId: string;
	answer: Answer;
	failure?: FailureRecord;
	flags: Flag[];
	/** FHIR statuses of the versions of reports (DiagnosticReport) that the message wrote. */
	reports?: string[];
}

export type ReplyTo<Sent extends Delivery> = Reply<AnswerOf<Sent['kind']>>;
