/**
 * The closed list of faults in what a sender sent. A failure is an answer, not a bug: every surface renders it in its own words (AE + ERR,
 * OperationOutcome, `{success: false}`).
 * `hl7` is HL7 table 0357 (v2.5.1 §2.15.5.3), `issue` the FHIR R4 IssueType, `status` the HTTP status.
 */
export const failureCodes = {
	'not-hl7': { hl7: '100', issue: 'structure', status: 400 },
	'segment-sequence': { hl7: '100', issue: 'structure', status: 422 },
	'required-field-missing': { hl7: '101', issue: 'required', status: 422 },
	'data-type': { hl7: '102', issue: 'value', status: 422 },
	'table-value': { hl7: '103', issue: 'code-invalid', status: 422 },
	'value-too-long': { hl7: '104', issue: 'too-long', status: 422 },
	'unsupported-message-type': { hl7: '200', issue: 'not-supported', status: 422 },
	'unsupported-event': { hl7: '201', issue: 'not-supported', status: 422 },
	'unsupported-processing-id': { hl7: '202', issue: 'not-supported', status: 422 },
	'unsupported-version': { hl7: '203', issue: 'not-supported', status: 422 },
	'unknown-key': { hl7: '204', issue: 'not-found', status: 422 },
	'ambiguous-key': { hl7: '205', issue: 'multiple-matches', status: 422 },
	'key-conflict': { hl7: '205', issue: 'conflict', status: 422 },
	'business-rule': { hl7: '103', issue: 'business-rule', status: 422 },
	'sender-not-authorized': { hl7: '204', issue: 'forbidden', status: 403 },
	'insufficient-scope': { hl7: '204', issue: 'forbidden', status: 403 },
	unauthenticated: { hl7: '207', issue: 'login', status: 401 },
	invalid: { hl7: '207', issue: 'invalid', status: 400 },
	'invalid-resource': { hl7: '207', issue: 'invalid', status: 400 },
	'several-matches': { hl7: '205', issue: 'multiple-matches', status: 412 },
	'not-supported': { hl7: '207', issue: 'not-supported', status: 400 },
	'not-found': { hl7: '204', issue: 'not-found', status: 404 },
	gone: { hl7: '204', issue: 'deleted', status: 410 },
	'unsupported-resource-type': { hl7: '207', issue: 'not-supported', status: 404 },
	'method-not-allowed': { hl7: '207', issue: 'not-supported', status: 405 },
	'not-acceptable': { hl7: '207', issue: 'not-supported', status: 406 },
	conflict: { hl7: '205', issue: 'conflict', status: 409 },
	'precondition-failed': { hl7: '205', issue: 'conflict', status: 412 },
	'too-large': { hl7: '104', issue: 'too-long', status: 413 },
	'head-too-large': { hl7: '104', issue: 'too-long', status: 431 },
	'timed-out': { hl7: '207', issue: 'timeout', status: 408 },
	'unsupported-media-type': { hl7: '207', issue: 'not-supported', status: 415 },
	misdirected: { hl7: '207', issue: 'processing', status: 421 },
	'too-costly': { hl7: '207', issue: 'too-costly', status: 422 },
	unprocessable: { hl7: '207', issue: 'processing', status: 422 },
	'too-many-requests': { hl7: '207', issue: 'throttled', status: 429 },
	internal: { hl7: '207', issue: 'exception', status: 500 },
	unavailable: { hl7: '207', issue: 'transient', status: 503 },
} as const satisfies Record<string, { hl7: string; issue: string; status: number }>;

export type FailureCode = keyof typeof failureCodes;

/** The place of a fault in a message or resource: `PID-3`, or a FHIRPath such as `Patient.birthDate`. */
export interface FailureLocation {
	/** HL7 v2: segment id, 1-based sequence of that segment, field, repetition, component (ERR-2, ERL). */
	segment?: string;
	sequence?: number;
	field?: number;
	repetition?: number;
	component?: number;
	/** FHIR: `OperationOutcome.issue.expression`. */
	expression?: string;
}

/** One of several faults, in the terms of OperationOutcome.issue. */
export interface FailureIssue {
	/** FHIR IssueType. */
	code: string;
	expression: string;
	diagnostics: string;
}

/**
 * Thrown when a message or request is refused. `diagnostics` is a sentence for the sender. It names fields and rules and never repeats a
 * patient's
 * data, so it may be logged.
 */
export class Failure extends Error {
	override readonly name = 'Failure';
	readonly code: FailureCode;
	readonly location: FailureLocation | undefined;
	readonly retryAfterSeconds: number | undefined;
	/** The methods that are allowed, if this one is not. */
	readonly allow: string | undefined;
	/** The scopes that an access token lacks, as in a challenge (RFC 6750 §3). */
	readonly scope: string | undefined;
	/** The ways in, for a caller whom nobody knows (RFC 9110 §11.6.1). */
	readonly challenge: string | undefined;
	/** All faults, if several were found; `diagnostics` then sums them up. */
	readonly issues: readonly FailureIssue[] | undefined;

	constructor(
		code: FailureCode,
		diagnostics: string,
		options: {
			location?: FailureLocation;
			cause?: unknown;
			retryAfterSeconds?: number;
			issues?: readonly FailureIssue[];
			allow?: string;
			scope?: string;
			challenge?: string;
		} = {},
	) {
		super(diagnostics, options.cause === undefined ? undefined : { cause: options.cause });
		this.code = code;
		this.location = options.location;
		this.retryAfterSeconds = options.retryAfterSeconds;
		this.allow = options.allow;
		this.scope = options.scope;
		this.challenge = options.challenge;
		this.issues = options.issues;
	}

	get diagnostics(): string {
		return this.message;
	}
}

/** A failure as plain data, for the message log and for the way between threads. */
export interface FailureRecord {
	code: FailureCode;
	diagnostics: string;
	location?: FailureLocation;
}

export function failureRecord(failure: Failure): FailureRecord {
	const record: FailureRecord = { code: failure.code, diagnostics: failure.diagnostics };
	if (failure.location) record.location = failure.location;
	return record;
}
