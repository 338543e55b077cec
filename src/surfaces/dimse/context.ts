import type { AssociationDirectory, RemoteAeDirectory } from '#access/directory.ts';
import type { AccessMetrics } from '#access/metrics.ts';
import type { Clock } from '#core/clock.ts';
import type { Log } from '#core/log.ts';
import type { Quotas } from '#core/node-line.ts';
import type { TargetPolicy } from '#core/target-policy.ts';
import type { InformationModel } from '#dicom/query/information-model.ts';
import type { Archive } from '#imaging/archive.ts';
import type { InstanceEntry } from '#imaging/intake.ts';
import type { ImagingLimits } from '#imaging/limits.ts';
import type { ProcedureStepService } from '#mpps/procedure-steps.ts';
import type { QueryLevel } from '#record/imaging-query.ts';
import type { Settings } from '#record/settings/settings.ts';
import type { Tracing } from '#record/tracing.ts';
import type { NewCommitment } from '#storage/commitments.ts';
import type { ConnectionRefusal } from '../tcp/reception.ts';
import type { DimseLimits } from './limits.ts';
import type { DimseMetrics } from './metrics.ts';
import type { RequestorTls } from './requestor-tls.ts';
import type { ReturnChannel } from './service.ts';
import type { UnmatchedAssociation } from './unmatched.ts';

/** Storage commitment as SCP. */
export interface CommitmentService {
	/**
	 * Resolves when the request is durable, with the function that reports over its association. Rejects when the service cannot store it.
	 */
	note(request: NewCommitment): Promise<(channel: ReturnChannel) => void>;
}

/** A connection or an association that was turned away, for the log and the audit trail. */
export interface RefusedAssociation {
	address: string;
	reason: 'called' | 'calling' | ConnectionRefusal;
	/** The AE title that is not known, if it is one. */
	named?: string | undefined;
}

/** A query or retrieval that was answered, for the audit trail: the requestor, the level and the number of results. */
export interface AnsweredQuery {
	operation: 'C-FIND' | 'C-GET' | 'C-MOVE';
	siteId: string;
	/** Undefined when the site has no clients of this protocol. */
	clientId: string | undefined;
	callingAe: string;
	address: string;
	model: InformationModel;
	/** Undefined when the identifier does not state it or could not be read. */
	level: QueryLevel | undefined;
	status: number;
	/** The number of matches of a query. */
	matches?: number;
	/** The number of instances that a retrieval sent. */
	completed?: number;
	failed?: number;
	destination?: string;
	/** The studies that were found or sent. */
	studies: Iterable<string>;
	settings: Settings;
}

/** The reason why a connection ended; the label of `tributary_dimse_association_ends_total`. */
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

/** An association that was accepted and has ended, for the audit trail (PS3.15 A.5.3.7). */
export interface EndedAssociation {
	siteId: string;
	/** Undefined when the site has no clients of this protocol. */
	clientId: string | undefined;
	callingAe: string;
	calledAe: string;
	address: string;
	startedMs: number;
	/** The bytes received on the connection. */
	bytes: number;
	end: EndReason;
	/** The number of requests by operation and outcome, such as `C-STORE success`. */
	requests: ReadonlyMap<string, number>;
	/** The Study Instance UIDs of the instances that were stored, the first hundred. */
	studies: ReadonlySet<string>;
}

/** Everything that the DIMSE surface works with. */
export interface DimseContext {
	directory: AssociationDirectory;
	intake: InstanceEntry;
	procedureSteps: ProcedureStepService;
	commitment: CommitmentService;
	/** The index and files that queries and retrievals read. */
	archive: Archive;
	/** The remote AEs to which retrievals may send. */
	remoteAes: RemoteAeDirectory;
	remoteTls: RequestorTls | undefined;
	/** The addresses that remote AEs may have. */
	targets: TargetPolicy;
	/** True when instances of SOP classes that DICOM does not define (private ones) are stored as well. */
	storesUnknownSopClasses: boolean;
	/** Returns how many associations a site may have at once; undefined means no limit of its own. */
	associationsMaxOf(siteId: string): number | undefined;
	/** Tells whether a peer is listed in TRUSTED_PROXIES; its connections then begin with a PROXY header. */
	isTrustedProxy(address: string): boolean;
	audit(refused: RefusedAssociation): void;
	/** Tells the log of an association that was refused for another reason than who asks. */
	warn(refused: { address: string; reason: string; named?: string | undefined }): void;
	/** Tells the log of unmatched traffic. */
	noteUnmatched(association: UnmatchedAssociation): void;
	auditQuery(answered: AnsweredQuery): void;
	auditAssociation(ended: EndedAssociation): void;
	limits: DimseLimits & ImagingLimits;
	quotas: Quotas;
	metrics: AccessMetrics & DimseMetrics;
	log: Log;
	/** Absent while nothing is traced. */
	tracing?: Tracing | undefined;
	clock: Clock;
}
