/** What the paths of the OpenAPI document are made of. */

export type Operation = Record<string, unknown>;
export type PathItem = Partial<Record<'get' | 'post' | 'put' | 'patch' | 'delete', Operation>>;

export const fhirJson = 'application/fhir+json';
export const ref = (name: string) => ({ $ref: `#/components/schemas/${name}` });
export const pathParameter = (name: string, description: string) => ({
	name,
	in: 'path',
	required: true,
	description,
	schema: { type: 'string' },
});
export const queryParameter = (name: string, description: string) => ({
	name,
	in: 'query',
	required: false,
	description,
	schema: { type: 'string' },
});
export const headerParameter = (name: string, description: string) => ({
	name,
	in: 'header',
	required: false,
	description,
	schema: { type: 'string' },
});
export const id = pathParameter('id', 'The id of the resource');
export const answer = (description: string, schema: string) => ({ description, content: { [fhirJson]: { schema: ref(schema) } } });
const refused = { default: answer('The request was refused; the outcome has one issue per fault', 'OperationOutcome') };

export function operation(
	tag: string,
	operationId: string,
	summary: string,
	responses: object,
	parameters: readonly object[] = [],
): Operation {
	return { tags: [tag], operationId, summary, ...(parameters.length > 0 ? { parameters } : {}), responses: { ...responses, ...refused } };
}

export function body(schema: string, example: object, type = fhirJson): object {
	return {
		required: true,
		content: { [type]: { schema: type === fhirJson ? ref(schema) : { type: 'array', items: { type: 'object' } }, example } },
	};
}

/** The part of a path that names the type, and the name under which its operations stand. */
export interface Naming {
	segment: string;
	tag: string;
}
