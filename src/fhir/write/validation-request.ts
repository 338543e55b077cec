import { Failure } from '#core/failure.ts';
import type { Json, JsonObject } from '#core/json.ts';
import { asObject, asObjects, asText } from '../elements.ts';

/** The modes of R4 (http://hl7.org/fhir/resource-validation-mode). */
const modes: ReadonlySet<string> = new Set(['create', 'update', 'delete', 'profile']);

/** The request of a `$validate`. */
export interface ValidationRequest {
	type: string;
	/** The id in the URL, if there is one. */
	id: string | undefined;
	mode: string | undefined;
	/** Canonical URLs of profiles that the caller nominated, in their order. */
	profiles: readonly string[];
	resource: JsonObject;
}

/** The most profiles that one request may nominate. It bounds the work of one request, and nobody nominates more. */
const profilesMax = 20;

/** Tells whether a URL relative to the FHIR base is that of `$validate`. */
export function isValidation(url: string): boolean {
	return /\/\$validate(?:\?|$)/.test(url);
}

/**
 * Reads a `$validate` (https://hl7.org/fhir/R4/resource-operation-validate.html). The resource is the body itself, or the parameter
 * `resource` of a Parameters. Mode and profiles are parameters of the body or of the URL.
 * @throws Failure when there is no resource, or a parameter is not what R4 says
 */
export function readValidation(url: string, body: Json): ValidationRequest {
	const [path = '', query = ''] = url.split('?');
	const [type = '', segment] = path.split('/');
	const given = asObject(body);
	const parameters = given?.['resourceType'] === 'Parameters' ? asObjects(given['parameter']) : undefined;
	const resource = parameters === undefined ? given : asObject(parameters.find(({ name }) => name === 'resource')?.['resource']);
	if (resource === undefined) throw new Failure('invalid', 'there is no resource to validate');
	const values = [...valuesInQuery(query), ...valuesIn(parameters ?? [])];
	const mode = values.findLast(({ name }) => name === 'mode')?.value;
	if (mode !== undefined && !modes.has(mode)) {
		throw new Failure('invalid', 'mode is create, update, delete or profile', { location: { expression: 'Parameters.parameter' } });
	}
	if (mode === 'delete') throw new Failure('not-supported', 'the mode delete is not supported: it needs no validation of a resource');
	const profiles = [...new Set(values.filter(({ name }) => name === 'profile').map(({ value }) => value))];
	if (profiles.length > profilesMax) throw new Failure('too-large', `a request nominates at most ${profilesMax} profiles`);
	return { type, id: segment === '$validate' ? undefined : segment, mode, profiles, resource };
}

interface Value {
	name: string;
	value: string;
}

const known: ReadonlySet<string> = new Set(['mode', 'profile']);

function valuesInQuery(query: string): Value[] {
	return [...new URLSearchParams(query)].map(([name, value]) => {
		if (!known.has(name)) {
			throw new Failure('not-supported', 'this parameter of $validate is not supported', { location: { expression: name } });
		}
		return { name, value };
	});
}

function valuesIn(parameters: readonly JsonObject[]): Value[] {
	return parameters.flatMap((parameter) => {
		const name = asText(parameter['name']);
		if (name === undefined || !known.has(name)) return [];
		const value = ['valueCanonical', 'valueUri', 'valueUrl', 'valueString', 'valueCode']
			.map((member) => asText(parameter[member]))
			.find((text) => text !== undefined);
		if (value === undefined) throw new Failure('invalid', `the parameter ${name} has no value`);
		return [{ name, value }];
	});
}
