import { Failure, failureCodes } from '#core/failure.ts';
import type { Json } from '#core/json.ts';
import { asText } from '../elements.ts';
import { issuesOf, type OutcomeIssue, outcomeOf } from '../operation-outcome.ts';
import { checkProfile } from '../profiles/check.ts';
import { declaredProfiles } from '../profiles/declared.ts';
import type { Library } from '../profiles/library.ts';
import type { ResourceDefinition } from '../resource.ts';
import { definitionOf } from '../resources/index.ts';
import { contentOf } from './content.ts';
import { readValidation, type ValidationRequest } from './validation-request.ts';

/** The answer of a `$validate`: an OperationOutcome. */
export interface ValidationAnswer {
	status: number;
	body: string;
}

/**
 * Answers `$validate`. Faults of the resource are part of the outcome, not a failure of the operation: the status is 200. A server that
 * cannot validate against a nominated profile returns an error (SHALL); the status is then 422.
 * @throws Failure when there is no resource to validate
 */
export function validateOnly(url: string, body: Json, limits: { repetitionsMax: number }, library: Library): ValidationAnswer {
	const request = readValidation(url, body);
	const definition = definitionOf(request.type);
	if (definition === undefined) throw new Failure('unsupported-resource-type', 'this resource type is not served');
	const unknown = request.profiles.filter((canonical) => !isKnown(definition, canonical, library)).map(unknownProfile);
	const faults = faultsOf(definition, request, limits);
	const issues = [...unknown, ...faults, ...beyond(faults, profileIssues(definition, request, library))];
	const status = unknown.length > 0 ? failureCodes['unknown-key'].status : 200;
	if (issues.length > 0) return { status, body: outcomeOf(issues) };
	return { status, body: outcomeOf([{ severity: 'information', code: 'informational', diagnostics: 'the resource is valid' }]) };
}

function isKnown(definition: ResourceDefinition, canonical: string, library: Library): boolean {
	return isBase(definition, canonical) || library.profile(canonical) !== undefined;
}

/** A profile repeats some demands of the type, which are told once. */
function beyond(faults: readonly OutcomeIssue[], issues: readonly OutcomeIssue[]): OutcomeIssue[] {
	const told = new Set(faults.map(({ code, expression }) => `${code} ${expression?.[0]}`));
	return issues.filter(({ severity, code, expression }) => severity !== 'error' || !told.has(`${code} ${expression?.[0]}`));
}

/** Checks the profiles that the caller nominates, and those that the resource claims. */
function profileIssues(definition: ResourceDefinition, { profiles, resource }: ValidationRequest, library: Library): OutcomeIssue[] {
	const nominated = profiles.map((canonical) => library.profile(canonical)).filter((compiled) => compiled !== undefined);
	const declared = declaredProfiles(resource, library);
	const compiled = new Set([...nominated, ...declared.known]);
	const unknown = declared.unknown
		.filter(({ canonical }) => !isBase(definition, canonical) && !profiles.includes(canonical))
		.map(({ canonical, expression }): OutcomeIssue => ({ ...unknownProfile(canonical), severity: 'warning', expression: [expression] }));
	return [...[...compiled].flatMap((profile) => checkProfile(resource, profile, library)), ...unknown];
}

/** Tells whether a canonical URL names the definition of the resource type itself, against which every resource is validated. */
function isBase({ profile }: ResourceDefinition, canonical: string): boolean {
	const [url, version] = canonical.split('|');
	return url === profile && (version === undefined || /^4\.0(?:\.|$)/.test(version));
}

/** Names a profile in a text for the sender. A text that is no URL is not repeated. */
function named(canonical: string): string {
	return canonical.length <= 250 && /^[a-z][a-z0-9+.-]*:[^\s"<>]+$/i.test(canonical) ? canonical : 'that is named by no URL';
}

function unknownProfile(canonical: string): OutcomeIssue {
	return {
		severity: 'error',
		code: 'not-found',
		diagnostics: `the profile ${named(canonical)} is not known here, so the resource was not validated against it`,
	};
}

function faultsOf(definition: ResourceDefinition, { id, mode, resource }: ValidationRequest, limits: { repetitionsMax: number }) {
	const issues: OutcomeIssue[] = [];
	const stated = asText(resource['id']);
	if (mode === 'update' && stated === undefined && id === undefined) {
		issues.push({ severity: 'error', code: 'required', diagnostics: 'an update has an id', expression: [`${definition.type}.id`] });
	} else if (id !== undefined && stated !== undefined && stated !== id) {
		const diagnostics = 'the id of the resource is not that of the URL';
		issues.push({ severity: 'error', code: 'invalid', diagnostics, expression: [`${definition.type}.id`] });
	}
	try {
		contentOf(definition, resource, limits);
	} catch (error) {
		if (!(error instanceof Failure)) throw error;
		issues.push(...issuesOf(error));
	}
	return issues;
}
