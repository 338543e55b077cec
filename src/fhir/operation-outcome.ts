import { type Failure, failureCodes } from '#core/failure.ts';

/** The OperationOutcome (FHIR R4 §2.37) of a failure, as JSON text. */
export function operationOutcome(failure: Failure): string {
	const issue: Record<string, unknown> = { severity: 'error', code: failureCodes[failure.code].issue, diagnostics: failure.diagnostics };
	if (failure.location?.expression !== undefined) issue['expression'] = [failure.location.expression];
	return JSON.stringify({ resourceType: 'OperationOutcome', issue: [issue] });
}
