import type { core } from 'zod/mini';
import type { JsonObject } from '#core/json.ts';

/** FHIR IssueType codes that validation gives. */
export type IssueCode = 'structure' | 'required' | 'value' | 'invariant' | 'code-invalid' | 'not-supported' | 'too-long';

/** Faults that are looked for in one element; who has more is told that there are more. */
export const faultsMax = 50;

export type Path = readonly (string | number)[];
export type Issue = core.$ZodRawIssue;

/**
 * A fault as zod carries it. `words` is a sentence that repeats nothing of the resource; `path` leads from the element that is
 * being read to the one at fault.
 */
export function fault(code: IssueCode, words: string, path: Path = []): Issue {
	return { code: 'custom', message: words, path: [...path], params: { code }, input: undefined };
}

/** Moves the faults of an element to its parent, where `path` leads to it. */
export function adopt(issues: Issue[], faults: readonly Issue[], ...path: Path): void {
	for (const issue of faults) issues.push({ ...issue, path: [...path, ...(issue.path ?? [])] });
}

/** What zod's own schemas of `primitives.ts` find is a wrong type, or a code that is not in its list. */
export function codeOf(issue: core.$ZodIssue): string {
	if (issue.code === 'custom') return (issue.params as { code: IssueCode }).code;
	return issue.code === 'invalid_value' ? 'code-invalid' : 'structure';
}

const { isRawJSON } = JSON as unknown as { isRawJSON(value: unknown): boolean };

/** A number that keeps its digits (`parseExact`). */
export function isExactNumber(value: unknown): value is { rawJSON: string } {
	return isRawJSON(value);
}

/** An object of JSON; not a list, and not a number that keeps its digits. */
export function isObject(value: unknown): value is JsonObject {
	return typeof value === 'object' && value !== null && !Array.isArray(value) && !isRawJSON(value);
}
