/** Performed Procedure Step Status (0040,0252), as PS3.3 C.4.14 writes it. */
export const stepStatuses = ['IN PROGRESS', 'COMPLETED', 'DISCONTINUED'] as const;
export type StepStatus = (typeof stepStatuses)[number];

/** The attributes of a step that have columns of their own. */
export interface StepFacts {
	patientId: string | null;
	patientIssuer: string | null;
	patientName: string | null;
	accessionNumber: string | null;
	modality: string | null;
	stationAe: string | null;
	stationName: string | null;
	/** Performed Procedure Step ID (0040,0253). */
	stepId: string | null;
	/** FHIR date or dateTime. A dateTime that an earlier release stored has no offset. */
	started: string | null;
	ended: string | null;
	/** Series Instance UIDs of the performed series. */
	seriesUids: readonly string[];
	/** Study Instance UIDs of all scheduled steps that were performed as one. */
	studyUids: readonly string[];
}

/** One performed procedure step (PS3.4 F.7) in a site's record. It is immutable: a report makes a new one. */
export interface ProcedureStep {
	readonly id: string;
	readonly sopInstanceUid: string;
	readonly studyUid: string;
	readonly status: StepStatus;
	/** JSON text of all reports combined; later values replace earlier ones. */
	readonly attributes: string;
	/** True when the first report was already final: the report of the start was lost on its way. */
	readonly late: boolean;
	/** The number of accepted reports. */
	readonly reports: number;
	/** The digest of the last accepted report, by which a repetition is recognised. */
	readonly lastDigest: string;
	/** Its id in the message log. */
	readonly lastMessageId: string;
	/** FHIR instant of the last accepted report. */
	readonly updatedAt: string;
	/** Absent for a step that was read. */
	readonly facts?: StepFacts;
}

/** An accepted report, for the history of its step. */
export interface StepReport {
	readonly procedureStepId: string;
	/** Counts from 1. */
	readonly number: number;
	readonly messageId: string;
	readonly recordedAt: string;
	/** Surface and sender: `mpps:<key id>`, `dimse:<address>`. */
	readonly source: string;
	readonly status: StepStatus;
	/** JSON text of the attributes as this report stated them. */
	readonly attributes: string;
}

/** The DIMSE answer to an N-CREATE or N-SET. */
export interface DimseStatus {
	/**
	 * 0x0000; 0x0106 a status that is not IN PROGRESS at N-CREATE, or another value that is not allowed; 0x0110 with `errorId`
	 * 0xA710 an object that is final; 0x0111 the UID is taken; 0x0112 no such object; 0x0110 any other failure (PS3.4 F.7.2).
	 */
	status: number;
	/** Error ID (0000,0903). */
	errorId?: number;
	/** The text of the Error Comment (0000,0902), without a patient's data. */
	comment?: string;
}

/** The outcome of a report about a procedure step. */
export interface StepReportResult {
	step: ProcedureStep;
	/** The message that the report repeats. In that case nothing has changed. */
	repeats: string | undefined;
}
