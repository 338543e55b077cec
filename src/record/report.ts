import { type Age, takesPlace } from './result-precedence.ts';

/** The names by which a report refers to its studies. */
export interface StudyNames {
	/** Study Instance UID. */
	uid: string | undefined;
	accession: string | undefined;
	/** The filler's order number, which many departments use as the accession number. */
	filler: string | undefined;
}

/** The item of a report on its whole order. Any other item stands for one OBR-4. */
export const wholeOrder = 'report';

/** A person's change to a report. An absent member leaves the value unchanged; `pdf` is base64. */
export type ReportEdit = {
	/** The person and their address, for the audit trail. */
	actor: string;
	source: string;
	title?: string;
	text?: string;
	author?: string;
	conclusion?: string;
	pdf?: string;
} & ({ operation: 'add'; studyUid: string; status: 'draft' | 'completed' } | { operation: 'complete' | 'amend'; id: string });

/** The version that an edit wrote, or the reason why there is none. */
export type ReportEditOutcome = { kind: 'written'; id: string; version: number } | { kind: 'refused'; diagnostics: string };

/** Names the caller of an interface in the audit trail: an API key, the client of an access token, or the person who opened a viewer. */
export function actorOf({ keyId }: { keyId: string }): string {
	if (keyId.startsWith('viewer:')) return keyId.slice('viewer:'.length);
	return keyId.startsWith('token:') ? keyId : `key:${keyId}`;
}

/** An event of the audit trail that is written in the transaction of the change it describes. */
export interface AuditEntry {
	id: string;
	/** FHIR instant. */
	recordedAt: string;
	actor: string;
	action: string;
	/** The object of the action; it contains no patient's data. */
	subject: string;
	/** The address; empty for the command line. */
	source: string;
	/** JSON. */
	detail: string;
}

const completed: ReadonlySet<string> = new Set(['final', 'amended', 'corrected', 'appended']);
const withdrawn: ReadonlySet<string> = new Set(['cancelled', 'entered-in-error']);

export function isCompleted(status: unknown): boolean {
	return typeof status === 'string' && completed.has(status);
}

export function isWithdrawn(status: unknown): boolean {
	return typeof status === 'string' && withdrawn.has(status);
}

export type ContentChange = 'none' | 'added' | 'changed';

/**
 * Returns DiagnosticReport.status when a message states `stated` for a report that has `held` (FHIR R4, diagnostic-report-status).
 * `late`: it does not take the place of what is known (`takesPlace`). A final report grows with its results, so an amended or appended one
 * is compared as a final one; only a corrected one is corrected.
 */
export function nextStatus(held: string | undefined, stated: string, change: ContentChange, age: Age): { status: string } | 'late' {
	if (held === undefined) return { status: stated };
	const isRepeat = isCompleted(held) && stated === 'final';
	if (isRepeat && change === 'none' && age !== 'older') return { status: held };
	if (isRepeat && change === 'added' && held === 'corrected' && age !== 'older') return { status: held };
	if (!takesPlace(isCompleted(held) && held !== 'corrected' ? 'final' : held, stated, age)) return 'late';
	if (isWithdrawn(stated)) return { status: isCompleted(held) || held === 'entered-in-error' ? 'entered-in-error' : stated };
	if (!isRepeat) return { status: stated };
	return { status: change === 'added' ? 'appended' : 'amended' };
}
