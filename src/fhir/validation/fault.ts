import type { core } from 'zod/mini';
import type { JsonObject } from '#core/json.ts';

/** FHIR IssueType codes that validation reports. */
export type IssueCode = 'structure' | 'required' | 'value' | 'invariant' | 'code-invalid' | 'not-supported' | 'too-long';

/** The largest number of faults reported for one element. If there are more, the report says so. */
export const faultsMax = 50;

export type Path = readonly (string | number)[];
export type Issue = core.$ZodRawIssue;

/**
 * Makes a fault for zod. `words` is a sentence that quotes nothing of the resource; `path` leads from the element being read to the faulty
 * one.
 */
export function fault(code: IssueCode, words: string, path: Path = []): Issue {
	return { code: 'custom', message: words, path: [...path], params: { code }, input: undefined };
}

/** Moves the faults of an element to its parent, where `path` leads to it. */
export function adopt(issues: Issue[], faults: readonly Issue[], ...path: Path): void {
	for (const issue of faults) issues.push({ ...issue, path: [...path, ...(issue.path ?? [])] });
}

/** Returns the code of an issue. zod's own schemas in `primitives.ts` find a wrong type, or a code that is not in its list. */
export function codeOf(issue: core.$ZodIssue): string {
	if (issue.code === 'custom') return (issue.params as { code: IssueCode }).code;
	return issue.code === 'invalid_value' ? 'code-invalid' : 'structure';
}

const { isRawJSON } = JSON as unknown as { isRawJSON(value: unknown): boolean };

/** A number that keeps its digits (`parseExact`). */
export function isExactNumber(value: unknown): value is { rawJSON: string } {
	return isRawJSON(value);
}

/** Tells whether a value is a JSON object; not a list, and not a number that keeps its digits. */
export function isObject(value: unknown): value is JsonObject {
	return typeof value === 'object' && value !== null && !Array.isArray(value) && !isRawJSON(value);
}
