import { Failure } from '#core/failure.ts';
import type { JsonObject } from '#core/json.ts';
import { asObject, asObjects, asText } from '../elements.ts';
import type { TermParameters } from './answers.ts';

/** Parameters of R4 that change nothing here: displays have one language, and no concept here is inactive. */
const without: ReadonlySet<string> = new Set([
	...['includeDesignations', 'includeDefinition', 'activeOnly', 'excludeNested', 'excludePostCoordinated', 'excludeNotForUI'],
	...['displayLanguage', 'property', 'abstract', '_format', '_pretty', '_summary'],
]);
const known: ReadonlySet<string> = new Set([
	...['url', 'valueSetVersion', 'filter', 'count', 'offset', 'system', 'version', 'code', 'display'],
]);

/**
 * Reads the parameters of an operation of terminology from a query.
 * @throws Failure `not-supported` that names a parameter which would change the answer
 */
export function parametersInQuery(query: string): TermParameters {
	return collected([...new URLSearchParams(query)]);
}

/** Reads them from a Parameters. A Coding, or a CodeableConcept with one coding, stands for its system, code and display. */
export function parametersInBody(body: JsonObject): TermParameters {
	if (body['resourceType'] !== 'Parameters') throw new Failure('invalid', 'a Parameters is expected');
	return collected(
		asObjects(body['parameter']).flatMap((parameter): [string, string][] => {
			const name = asText(parameter['name']) ?? '';
			const coding = codingIn(parameter);
			if (coding !== undefined) {
				return ['system', 'code', 'display'].flatMap((member): [string, string][] => {
					const value = asText(coding[member]);
					return value === undefined ? [] : [[member, value]];
				});
			}
			const value = Object.entries(parameter).find(([member]) => member.startsWith('value'))?.[1];
			return [[name, value === undefined || typeof value === 'object' ? '' : String(value)]];
		}),
	);
}

function codingIn(parameter: JsonObject): JsonObject | undefined {
	const concept = asObject(parameter['valueCodeableConcept']);
	if (concept === undefined) return asObject(parameter['valueCoding']);
	const [coding, another] = asObjects(concept['coding']);
	if (coding === undefined || another !== undefined) throw new Failure('not-supported', 'a CodeableConcept has exactly one coding here');
	return coding;
}

function collected(pairs: readonly [string, string][]): TermParameters {
	const parameters = new Map<string, string>();
	for (const [name, value] of pairs) {
		if (known.has(name)) parameters.set(name, value);
		else if (!without.has(name)) {
			throw new Failure('not-supported', 'this parameter of the operation is not supported', {
				location: { expression: name.replace(/[^\x20-\x7e]/g, '?').slice(0, 64) },
			});
		}
	}
	return parameters;
}
