import type { AssociationDirectory, RemoteAeDirectory } from '#access/directory.ts';
import type { AccessMetrics } from '#access/metrics.ts';
import type { Clock } from '#core/clock.ts';
import type { Log } from '#core/log.ts';
import type { InformationModel } from '#dicom/query/information-model.ts';
import type { Archive } from '#imaging/archive.ts';
import type { InstanceEntry } from '#imaging/intake.ts';
import type { ImagingLimits } from '#imaging/limits.ts';
import type { ProcedureStepService } from '#mpps/procedure-steps.ts';
import type { QueryLevel } from '#record/imaging-query.ts';
import type { NewCommitment } from '#storage/commitments.ts';
import type { ConnectionRefusal } from '../tcp/reception.ts';
import type { DimseLimits } from './limits.ts';
import type { DimseMetrics } from './metrics.ts';
import type { RequestorTls } from './requestor-tls.ts';
import type { ReturnChannel } from './service.ts';

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

/** Why a connection ended; the label of `tributary_dimse_association_ends_total`. */
export type EndReason =
	| 'released'
	| 'rejected'
	| 'peer-abort'
	| 'closed'
	| 'protocol'
	| 'artim'
	| 'idle'
	| 'stalled'
	| 'access'
	| 'error'
	| 'drained';

/** An association that was accepted and has ended, for the audit trail (PS3.15 A.5.3.7): who, and how much came. */
export interface EndedAssociation {
	siteId: string;
	/** Undefined: a site without clients of this protocol. */
	clientId: string | undefined;
	callingAe: string;
	calledAe: string;
	address: string;
	startedMs: number;
	/** Received on the connection. */
	bytes: number;
	end: EndReason;
	/** Requests by operation and outcome: `C-STORE success`. */
	requests: ReadonlyMap<string, number>;
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
	/** How many associations a site may have at once; undefined: as many as there are. */
	associationsMaxOf(siteId: string): number | undefined;
	/** Whether a peer is listed in TRUSTED_PROXIES; its connections then begin with a PROXY header. */
	isTrustedProxy(address: string): boolean;
	audit(refused: RefusedAssociation): void;
	auditQuery(answered: AnsweredQuery): void;
	auditAssociation(ended: EndedAssociation): void;
	limits: DimseLimits & ImagingLimits;
	metrics: AccessMetrics & DimseMetrics;
	log: Log;
	clock: Clock;
}
