import type { AssociationDirectory, RemoteAeDirectory } from '#access/directory.ts';
import type { Clock } from '#core/clock.ts';
import type { JsonObject } from '#core/json.ts';
import type { Limits } from '#core/limits.ts';
import type { Log } from '#core/log.ts';
import type { Metrics } from '#core/metrics.ts';
import type { InformationModel } from '#dicom/query/information-model.ts';
import type { QueryLevel } from '#record/imaging-query.ts';
import type { Archive } from '#storage/archive.ts';
import type { NewCommitment } from '#storage/commitments.ts';
import type { InstanceEntry } from '#storage/instance-intake.ts';
import type { ConnectionRefusal } from '../tcp/reception.ts';
import type { RequestorTls } from './requestor.ts';
import type { ReturnChannel } from './service.ts';

/** One MPPS N-CREATE or N-SET. */
export interface ProcedureStepRequest {
	siteId: string;
	siteSlug: string;
	/** Undefined where the site has no clients of this protocol. */
	clientId: string | undefined;
	/** Address of the sender. */
	source: string;
	/** A valid UID; of an N-CREATE without one it was made here. */
	sopInstanceUid: string;
	/** The attribute or modification list in the DICOM JSON Model (PS3.18 annex F). */
	attributes: JsonObject;
}

export interface ProcedureStepAnswer {
	/**
	 * 0x0000; 0x0106 a status that is not IN PROGRESS at N-CREATE, or another value that is not allowed; 0x0110 with `errorId`
	 * 0xA710 an object that is final; 0x0111 the UID is taken; 0x0112 no such object; 0x0110 any other failure (PS3.4 F.7.2).
	 */
	status: number;
	/** Error ID (0000,0903). */
	errorId?: number;
	/** For Error Comment (0000,0902), without a patient's data. */
	comment?: string;
}

/** Modality Performed Procedure Step as SCP. Neither call rejects but when the service itself cannot. */
export interface ProcedureStepService {
	create(request: ProcedureStepRequest): Promise<ProcedureStepAnswer>;
	set(request: ProcedureStepRequest): Promise<ProcedureStepAnswer>;
}

/** Storage commitment as SCP. */
export interface CommitmentService {
	/** Resolves when the request is durable, with how to report over its association. Rejects when the service itself cannot. */
	note(request: NewCommitment): Promise<(channel: ReturnChannel) => void>;
}

/** A connection or an association that was turned away, for the audit trail. */
export interface RefusedAssociation {
	address: string;
	reason: 'called' | 'calling' | ConnectionRefusal;
}

/** A query or retrieval that was answered, for the audit trail: who asked, at which level, and how much was given. */
export interface AnsweredQuery {
	operation: 'C-FIND' | 'C-GET' | 'C-MOVE';
	siteId: string;
	/** Undefined: a site without clients of this protocol. */
	clientId: string | undefined;
	callingAe: string;
	address: string;
	model: InformationModel;
	/** Undefined: the identifier does not say, or could not be read. */
	level: QueryLevel | undefined;
	status: number;
	/** Of a query. */
	matches?: number;
	/** Of a retrieval. */
	completed?: number;
	failed?: number;
	destination?: string;
}

/** What the DIMSE surface works with. */
export interface DimseContext {
	directory: AssociationDirectory;
	intake: InstanceEntry;
	procedureSteps: ProcedureStepService;
	commitment: CommitmentService;
	/** What queries and retrievals read. */
	archive: Archive;
	/** Where retrievals may send, and how this side shows itself there. */
	remoteAes: RemoteAeDirectory;
	remoteTls: RequestorTls | undefined;
	/** Whether instances of SOP classes that DICOM does not know (private ones) are stored as well. */
	storesUnknownSopClasses: boolean;
	/** Whether a peer is listed in TRUSTED_PROXIES; its connections then begin with a PROXY header. */
	isTrustedProxy(address: string): boolean;
	audit(refused: RefusedAssociation): void;
	auditQuery(answered: AnsweredQuery): void;
	limits: Limits;
	metrics: Metrics;
	log: Log;
	clock: Clock;
}
