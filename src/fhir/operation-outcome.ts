import { type Failure, failureCodes } from '#core/failure.ts';

/** The OperationOutcome (FHIR R4 §2.37) of a failure, as JSON text: one issue for each fault. */
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

/** What a client should know of an answer that is otherwise good. */
export function warning(diagnostics: string): string {
	return JSON.stringify({ resourceType: 'OperationOutcome', issue: [{ severity: 'warning', code: 'incomplete', diagnostics }] });
}

/** The OperationOutcome of what went well. */
export function allOk(diagnostics: string): string {
	return JSON.stringify({ resourceType: 'OperationOutcome', issue: [{ severity: 'information', code: 'informational', diagnostics }] });
}
