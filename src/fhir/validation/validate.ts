import { type core, z } from 'zod/mini';
import type { JsonObject } from '#core/json.ts';
import { pathOf } from './expression.ts';
import { codeOf, faultsMax } from './fault.ts';
import type { Context } from './rule.ts';
import { Sibling } from './schemas/datatypes.ts';
import { schemas } from './schemas/index.mjs';

/** One fault of a resource, in the terms of an issue of an OperationOutcome. */
export interface ValidationIssue {
	/** FHIR IssueType: structure, required, value, invariant, code-invalid … */
	code: string;
	/** FHIRPath location, such as `Patient.name[0].given[1]`. */
	expression: string;
	/** A description for the sender; never a value of the resource. */
	diagnostics: string;
}

export interface ValidationOptions {
	/**
	 * Accepts `Patient?identifier=…` as a reference, as in a transaction (R4 §3.1.0.11.3). By default it is accepted only in the entries of
	 * one.
	 */
	conditionalReferences?: boolean;
	/** False means that resources in a Bundle's entries and in Parameters are checked by their type only. */
	entryResources?: boolean;
	/** The largest number of values in a list; undefined means any number. */
	repetitionsMax?: number;
}

/** The largest number of issues for one resource. If there are more faults, the last issue says so. */
export const issuesMax = faultsMax;

/**
 * Returns the faults of a resource against FHIR R4 (4.0.1), at most `issuesMax`; none when it is valid. It accepts any JSON that
 * `parseResourceJson` returns and never throws.
 */
export function validateResource(resource: JsonObject, options: ValidationOptions = {}): ValidationIssue[] {
	const type = resource['resourceType'];
	if (typeof type !== 'string') return [{ code: 'required', expression: 'resourceType', diagnostics: 'A resource names its type' }];
	const schema = resourceOf(type);
	if (schema === undefined) return [{ code: 'structure', expression: 'resourceType', diagnostics: 'R4 has no such type of resource' }];
	const result = z.safeParse(schema, resource, contextFor(resource, options));
	return result.success ? [] : issuesOf(type, result.error.issues);
}

function resourceOf(type: string): core.$ZodType | undefined {
	return schemas.get(type);
}

function contextFor({ resourceType, type }: JsonObject, options: ValidationOptions): Context {
	const isTransaction = resourceType === 'Bundle' && (type === 'transaction' || type === 'batch');
	return {
		depth: 0,
		resourceOf,
		siblingOf: () => Sibling,
		contained: new Map(),
		isContained: false,
		conditionalReferences: options.conditionalReferences ?? isTransaction,
		entryResources: options.entryResources ?? true,
		repetitionsMax: options.repetitionsMax ?? Number.POSITIVE_INFINITY,
	};
}

function issuesOf(type: string, faults: readonly core.$ZodIssue[]): ValidationIssue[] {
	const issues = faults.slice(0, issuesMax).map((fault) => ({
		code: codeOf(fault),
		expression: pathOf(type, fault.path),
		diagnostics: fault.message,
	}));
	if (faults.length <= issuesMax) return issues;
	return [
		...issues.slice(0, -1),
		{ code: 'too-costly', expression: type, diagnostics: `There are more faults than these ${issuesMax - 1}` },
	];
}
