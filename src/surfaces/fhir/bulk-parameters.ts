import type { ExportParameters } from '#bulk/export-job.ts';
import { Failure } from '#core/failure.ts';
import type { Json, JsonObject } from '#core/json.ts';
import { asObject, asObjects, asText } from '#fhir/elements.ts';
import type { FhirLimits } from '#fhir/limits.ts';
import { definitionOf, resources } from '#fhir/resources/index.ts';
import { parseResourceJson } from '#fhir/validation/json.ts';
import { missingScope, permits, type Scopes, scopeName } from '#record/scopes.ts';
import type { ResourceType } from '#record/table-shape.ts';
import { isPlainBase } from '#storage/statements/export-resources.ts';
import type { HttpRequest } from '../http/message.ts';
import { baseOf } from './base.ts';

const formats: ReadonlySet<string> = new Set(['application/fhir+ndjson', 'application/ndjson', 'ndjson']);
const instant = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|[+-]\d\d:\d\d)$/;

/** Tells whether the request has `Prefer: handling=lenient`, which makes the server ignore unknown parameters. */
export function isLenient(request: Pick<HttpRequest, 'header'>): boolean {
	return /\bhandling\s*=\s*"?lenient\b/i.test(request.header('prefer') ?? '');
}

/**
 * Reads the parameters of an export from the query or from a Parameters resource.
 * @throws Failure that names the parameter
 */
export function exportParameters(
	request: HttpRequest,
	patientsOnly: boolean,
	limits: Pick<FhirLimits, 'jsonDepthMax'>,
	scopes: Scopes | undefined,
): ExportParameters {
	const given = [...queryOf(request), ...(request.body.length > 0 ? bodyOf(request, limits) : [])];
	const isKnown = (name: string) => name === '_type' || name === '_since' || name === '_outputFormat' || name === '_format';
	const unknown = [...new Set(given.map(([name]) => name).filter((name) => !isKnown(name)))];
	if (unknown.length > 0 && !isLenient(request)) {
		throw new Failure(
			'not-supported',
			`an export does not have the parameters ${unknown.join(', ')}; it has _type, _since and _outputFormat`,
		);
	}
	const valuesOf = (wanted: string) => given.filter(([name]) => name === wanted).map(([, value]) => value);
	for (const format of valuesOf('_outputFormat')) {
		if (!formats.has(format)) throw wrong('_outputFormat', 'an export is available only as application/fhir+ndjson');
	}
	return {
		types: typesOf(valuesOf('_type'), isLenient(request), scopes),
		sinceMs: sinceOf(valuesOf('_since')),
		patientsOnly,
		base: plainBase(request),
	};
}

/** Returns the base URL for the lines of the export. It is checked, because a Host header may contain anything. */
function plainBase(request: HttpRequest): string {
	const base = baseOf(request);
	if (!isPlainBase(base)) throw new Failure('invalid', 'the Host header names no host from which attachments could be fetched');
	return base;
}

function wrong(expression: string, diagnostics: string): Failure {
	return new Failure('not-supported', diagnostics, { location: { expression } });
}

function queryOf(request: HttpRequest): [string, string][] {
	// An unescaped `+` of a media type or a time zone arrives as a space.
	return [...new URLSearchParams(request.query)].map(([name, value]) => [name, value.trim().replaceAll(' ', '+')]);
}

function bodyOf(request: HttpRequest, limits: Pick<FhirLimits, 'jsonDepthMax'>): [string, string][] {
	const parameters = parseResourceJson(request.body, { depthMax: limits.jsonDepthMax });
	if (parameters['resourceType'] !== 'Parameters') throw wrong('resourceType', 'the body of an export must be a Parameters resource');
	return asObjects(parameters['parameter']).map((parameter) => [asText(parameter['name']) ?? '', textOf(parameter)]);
}

function textOf(parameter: JsonObject): string {
	const [, value] = Object.entries(parameter).find(([name]) => name.startsWith('value')) ?? [];
	return asText(value as Json) ?? asText(asObject(value as Json)?.['reference']) ?? '';
}

/**
 * An export without `_type` has what the caller's scopes permit (Bulk Data Access IG 2.0); one that names a type beyond them is refused,
 * unless it is lenient.
 */
function typesOf(values: readonly string[], lenient: boolean, scopes: Scopes | undefined): ResourceType[] {
	const served = Object.keys(resources) as ResourceType[];
	const all = served.filter((type) => permits(scopes, type, 'r') && permits(scopes, type, 's'));
	if (all.length === 0) throw missingScope(scopeName('*', 'r', 's'));
	if (values.length === 0) return all;
	const named = values.flatMap((value) => value.split(',')).map((type) => type.replaceAll('+', ' ').trim());
	const strange = named.filter((type) => definitionOf(type) === undefined);
	if (strange.length > 0 && !lenient) throw wrong('_type', 'the export requests resource types that are not served');
	const lacking = served.filter((type) => named.includes(type) && !all.includes(type));
	const wanted = all.filter((type) => named.includes(type));
	if (lacking.length > 0 && !(lenient && wanted.length > 0)) throw missingScope(...lacking.map((type) => scopeName(type, 'r', 's')));
	return wanted;
}

function sinceOf(values: readonly string[]): number | undefined {
	const [value] = values;
	if (value === undefined) return undefined;
	const ms = instant.test(value) ? Date.parse(value) : Number.NaN;
	if (Number.isNaN(ms) || values.length > 1)
		throw new Failure('invalid', 'one instant is expected', { location: { expression: '_since' } });
	return ms;
}
