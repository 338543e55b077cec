import type { JsonObject } from '#core/json.ts';
import type { DimseStatus } from '#record/procedure-step.ts';
import type { Settings } from '#record/settings/settings.ts';
import type { TraceIds } from '#record/trace-ids.ts';

/** One MPPS N-CREATE or N-SET. */
export interface ProcedureStepRequest {
	siteId: string;
	siteSlug: string;
	/** Undefined where the site has no clients of this protocol. */
	clientId: string | undefined;
	settings: Settings;
	/** Address of the sender. */
	source: string;
	/** A valid UID; of an N-CREATE without one it was made here. */
	sopInstanceUid: string;
	/** The attribute or modification list in the DICOM JSON Model (PS3.18 annex F). */
	attributes: JsonObject;
	/** Set when the request is traced. */
	trace?: TraceIds | undefined;
}

/** Modality Performed Procedure Step as SCP. Neither call rejects but when the service itself cannot. */
export interface ProcedureStepService {
	create(request: ProcedureStepRequest): Promise<DimseStatus>;
	set(request: ProcedureStepRequest): Promise<DimseStatus>;
}
