import { Failure } from '#core/failure.ts';
import type { Json } from '#core/json.ts';
import { asObject, asObjects } from '../elements.ts';
import { allOk, operationOutcome } from '../operation-outcome.ts';
import { definitionOf } from '../resources/index.ts';
import { contentOf } from './content.ts';

/**
 * Answers `$validate` (https://hl7.org/fhir/R4/resource-operation-validate.html): the resource is the body itself, or the parameter
 * `resource` of
 * a Parameters. Faults are part of the outcome, not a failure of the operation.
 * @throws Failure when there is no resource to validate
 */
export function validateOnly(url: string, body: Json, { repetitionsMax }: { repetitionsMax: number }): string {
	const [type = ''] = url.split('/');
	const definition = definitionOf(type);
	if (definition === undefined) throw new Failure('unsupported-resource-type', 'this resource type is not served');
	const given = asObject(body);
	const parameters = given?.['resourceType'] === 'Parameters' ? asObjects(given['parameter']) : undefined;
	const resource = parameters === undefined ? given : asObject(parameters.find(({ name }) => name === 'resource')?.['resource']);
	if (resource === undefined) throw new Failure('invalid', 'there is no resource to validate');
	try {
		contentOf(definition, resource, { repetitionsMax });
		return allOk('the resource is valid');
	} catch (error) {
		if (error instanceof Failure) return operationOutcome(error);
		throw error;
	}
}
