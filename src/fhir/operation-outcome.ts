import { type Failure, failureCodes } from '#core/failure.ts';

/** Builds the OperationOutcome (FHIR R4 §2.37) of a failure as JSON text, with one issue for each fault. */
export function operationOutcome(failure: Failure): string {
	const { issues } = failure;
	if (issues !== undefined && issues.length > 0) {
		return outcomeOf(issues.map(({ code, expression, diagnostics }) => ({ code, diagnostics, expression: [expression] })));
	}
	const code = failureCodes[failure.code].issue;
	const expression = failure.location?.expression;
	return outcomeOf([{ code, diagnostics: failure.diagnostics, ...(expression === undefined ? {} : { expression: [expression] }) }]);
}

function outcomeOf(issues: readonly object[]): string {
	return JSON.stringify({ resourceType: 'OperationOutcome', issue: issues.map((issue) => ({ severity: 'error', ...issue })) });
}

/** Builds a notice to the client about an otherwise successful answer. */
export function warning(diagnostics: string): string {
	return JSON.stringify({ resourceType: 'OperationOutcome', issue: [{ severity: 'warning', code: 'incomplete', diagnostics }] });
}

/** Builds the OperationOutcome of a success. */
export function allOk(diagnostics: string): string {
	return JSON.stringify({ resourceType: 'OperationOutcome', issue: [{ severity: 'information', code: 'informational', diagnostics }] });
}
