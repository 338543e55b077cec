import { z } from 'zod';
import { pathMembers } from './members.ts';
import type { Operation } from './operation.ts';
import { operations } from './operations/index.ts';

const sampleId = '0199c0de-0000-7000-8000-000000000001';
const error = {
	type: 'object',
	required: ['error'],
	properties: {
		error: { type: 'string' },
		field: { type: 'string', description: 'The member of the input that is wrong, if the fault lies in one' },
	},
};
const refusals = {
	400: 'The input is invalid: see `field`',
	401: 'Not signed in',
	403: 'Not permitted: your role is too low, you do not have access to the site, or X-CSRF-Token is missing',
	404: 'The object does not exist, or you do not have access to it',
	409: 'The name is already taken',
	422: 'Refused in the current state: `error` says why',
	429: 'Too many requests',
};

type Schema = Record<string, unknown>;

/** Leaves out the name of the JSON Schema dialect, which the document states once. */
export function schemaOf(schema: z.ZodType, io: 'input' | 'output'): Schema {
	const { $schema: _dialect, '~standard': _standard, ...rest } = z.toJSONSchema(schema, { io, unrepresentable: 'any' }) as Schema;
	return rest;
}

/** Returns the example of an operation. `idOf` gives the id that another operation's example returned. */
export function exampleOf(
	{ example }: Operation,
	idOf: (operation: string, index?: number) => string,
): Record<string, unknown> | undefined {
	return typeof example === 'function' ? example(idOf) : example;
}

function parameter(name: string, place: 'path' | 'query', schema: Schema, required: boolean, example: unknown): object {
	return { name, in: place, required, schema, ...(example === undefined ? {} : { example }) };
}

function describe(operation: Operation): object {
	const { name, summary, method, path, role, input, output } = operation;
	const whole = schemaOf(input, 'input');
	const properties = (whole['properties'] ?? {}) as Record<string, Schema>;
	const required = (whole['required'] ?? []) as string[];
	const example = exampleOf(operation, () => sampleId);
	const inPath = pathMembers(path);
	const others = Object.keys(properties).filter((member) => !inPath.includes(member));
	const query = method === 'GET' || method === 'DELETE' ? others : [];
	const inBody = others.filter((member) => !query.includes(member));
	const given = Object.fromEntries(Object.entries(example ?? {}).filter(([member]) => inBody.includes(member)));
	const body = {
		type: 'object',
		additionalProperties: false,
		required: required.filter((member) => inBody.includes(member)),
		properties: Object.fromEntries(inBody.map((member) => [member, properties[member]])),
	};
	return {
		tags: [name.split(' ')[0]],
		operationId: name.replace(' ', '-'),
		summary,
		description: `Required role: ${role} or higher.`,
		security: [method === 'GET' ? { session: [] } : { session: [], csrf: [] }],
		parameters: [
			...inPath.map((member) => parameter(member, 'path', properties[member] ?? {}, true, example?.[member])),
			...query.map((member) => parameter(member, 'query', properties[member] ?? {}, required.includes(member), example?.[member])),
		],
		...(inBody.length === 0
			? {}
			: { requestBody: { required: true, content: { 'application/json': { schema: body, ...(example && { example: given }) } } } }),
		responses: {
			200: { description: 'Done', content: { 'application/json': { schema: schemaOf(output, 'output') } } },
			...Object.fromEntries(Object.keys(refusals).map((status) => [status, { $ref: `#/components/responses/${status}` }])),
		},
	};
}

/**
 * Builds the OpenAPI 3.1 document of the admin API from the table of operations. `server` is the origin of the request, and `others`
 * are the paths that do not come from the table.
 */
export function operationsOpenApi(version: string, server: string, others: Record<string, object> = {}): object {
	const paths: Record<string, Record<string, object>> = {};
	for (const operation of operations) {
		const path = `/api/v1${operation.path}`;
		paths[path] = { ...paths[path], [operation.method.toLowerCase()]: describe(operation) };
	}
	return {
		openapi: '3.1.0',
		info: {
			title: 'Tributary administration',
			version,
			description: 'Everything that the console and the command line can do, with the same operations. Sign in first.',
		},
		servers: [{ url: server }],
		paths: { ...others, ...paths },
		components: {
			responses: Object.fromEntries(
				Object.entries(refusals).map(([status, description]) => [
					status,
					{ description, content: { 'application/json': { schema: error } } },
				]),
			),
			securitySchemes: {
				session: { type: 'apiKey', in: 'cookie', name: 'tributary_session' },
				csrf: { type: 'apiKey', in: 'header', name: 'X-CSRF-Token' },
			},
		},
	};
}
