import { Failure } from '#core/failure.ts';
import { isRawJson, type Json, type JsonObject } from '#core/json.ts';
import { asObject, asObjects, asText } from '#fhir/elements.ts';
import { parseResourceJson } from '#fhir/validation/json.ts';
import type { HttpRequest } from '../http/message.ts';
import type { Interacting } from './context.ts';
import { checkContentType } from './write.ts';

/** The parameters of an operation are some ten values, unless it takes resources. */
const parametersBytesMax = 64 * 1024;

/**
 * Returns the resource in the body of an operation. It is parsed on the main thread, so it is bounded.
 * @throws Failure for another content type, for what is longer than `bytesMax`, and for what is no FHIR JSON
 */
export function operationBody(
	request: HttpRequest,
	{ jsonDepthMax }: Pick<Interacting['context']['limits'], 'jsonDepthMax'>,
	bytesMax = parametersBytesMax,
): JsonObject {
	checkContentType(request);
	if (request.body.length > bytesMax) throw new Failure('too-large', `the parameters of the operation have at most ${bytesMax} bytes`);
	return parseResourceJson(request.body, { depthMax: jsonDepthMax });
}

/**
 * Returns the parameters of an operation as a query: those of the URL, and those of a Parameters in the body of a POST
 * (https://hl7.org/fhir/R4/operations.html#request).
 * @throws Failure for a body that is no Parameters, and for a value that no query can have
 */
export function operationQuery(request: HttpRequest, limits: Pick<Interacting['context']['limits'], 'jsonDepthMax'>): string {
	const pairs = postedParameters(request, limits).map(([name, value]): [string, string] => [name, value ?? refuse(name)]);
	return [request.query, new URLSearchParams(pairs).toString()].filter((part) => part !== '').join('&');
}

/**
 * Returns the parameters that stand in the body of a POST, each with the text that a query would have; undefined for a value that no query can
 * have.
 * @throws Failure for a body that is no Parameters
 */
export function postedParameters(
	request: HttpRequest,
	limits: Pick<Interacting['context']['limits'], 'jsonDepthMax'>,
	bytesMax?: number,
): [string, string | undefined][] {
	if (request.method !== 'POST' || request.body.length === 0) return [];
	const body = operationBody(request, limits, bytesMax);
	if (body['resourceType'] !== 'Parameters') throw new Failure('invalid', 'a Parameters is expected');
	return asObjects(body['parameter']).map((parameter) => [asText(parameter['name']) ?? '', queryValue(parameter)]);
}

function refuse(name: string): never {
	const expression = name.replace(/[^\x20-\x7e]/g, '?').slice(0, 64);
	throw new Failure('invalid', 'a parameter of the operation has no value that can be used here', { location: { expression } });
}

/** Returns the text that a search would have in place of the value. */
function queryValue(parameter: JsonObject): string | undefined {
	const [member, value] = Object.entries(parameter).find(([name]) => name.startsWith('value')) ?? [];
	if (member === undefined || value === undefined) return undefined;
	const object = asObject(value);
	if (object === undefined || isRawJson(value)) return primitive(value);
	switch (member) {
		case 'valueReference':
			return asText(object['reference']);
		case 'valueCoding':
			return token(object, 'code');
		case 'valueIdentifier':
			return token(object, 'value');
		case 'valueCodeableConcept':
			return asObjects(object['coding'])
				.map((coding) => token(coding, 'code'))
				.join(',');
		default:
			return undefined;
	}
}

/** A number is kept as it was written. */
function primitive(value: Json): string | undefined {
	if (isRawJson(value)) return JSON.stringify(value);
	return value === null || typeof value === 'object' ? undefined : String(value);
}

function token(object: JsonObject, member: string): string {
	const [system, value] = [asText(object['system']), asText(object[member]) ?? ''].map((text) => text?.replace(/[\\,|$]/g, '\\$&'));
	return system === undefined ? `${value}` : `${system}|${value}`;
}
