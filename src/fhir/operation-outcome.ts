import { type Failure, failureCodes } from '#core/failure.ts';

/** One issue of an OperationOutcome (FHIR R4 §2.37). */
export interface OutcomeIssue {
	severity: 'error' | 'warning' | 'information';
	/** FHIR IssueType. */
	code: string;
	diagnostics: string;
	/** FHIRPath of the elements that it is about. */
	expression?: readonly string[];
}

/** Builds the OperationOutcome (FHIR R4 §2.37) of a failure as JSON text, with one issue for each fault. */
export function operationOutcome(failure: Failure): string {
	return outcomeOf(issuesOf(failure));
}

/** Returns one issue for each fault of a failure. */
export function issuesOf(failure: Failure): OutcomeIssue[] {
	const { issues } = failure;
	if (issues !== undefined && issues.length > 0) {
		return issues.map(({ code, expression, diagnostics }) => ({ severity: 'error', code, diagnostics, expression: [expression] }));
	}
	const code = failureCodes[failure.code].issue;
	const expression = failure.location?.expression;
	return [{ severity: 'error', code, diagnostics: failure.diagnostics, ...(expression === undefined ? {} : { expression: [expression] }) }];
}

export function outcomeOf(issues: readonly OutcomeIssue[]): string {
	return JSON.stringify({ resourceType: 'OperationOutcome', issue: issues });
}

/** Builds a notice to the client about an otherwise successful answer. */
export function warning(diagnostics: string): string {
	return outcomeOf([{ severity: 'warning', code: 'incomplete', diagnostics }]);
}

/** Builds the OperationOutcome of a success. */
export function allOk(diagnostics: string, further: readonly OutcomeIssue[] = []): string {
	return outcomeOf([{ severity: 'information', code: 'informational', diagnostics }, ...further]);
}
