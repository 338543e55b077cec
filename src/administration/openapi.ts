import { z } from 'zod';
import { fileContent } from './file-content.ts';
import { meaningOf } from './meanings.ts';
import { pathMembers } from './members.ts';
import type { Operation } from './operation.ts';
import { fileOperations } from './operations/files.ts';
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

const pascal = (text: string) => text.replaceAll(/(?:^|[ -])(\w)/g, (_, letter: string) => letter.toUpperCase());

/** The schema of the items of a list, or the schema itself. */
const itemOf = (schema: z.ZodType) => (schema instanceof z.ZodArray ? (schema.element as z.ZodType) : schema);

/**
 * Names the schemas of answers: `Client` for an item of `client list`, `WholeClient` for what `client show` answers, otherwise after the operation,
 * `ClientMatch`. Operations with the same schema share its name.
 */
function namesOf(): Map<z.ZodType, string> {
	const names = new Map<z.ZodType, string>();
	const taken = new Set<string>();
	const give = (wanted: (verb: string) => boolean, nameOf: (noun: string, verb: string) => string) => {
		for (const { name, output } of operations) {
			const [verb = '', ...noun] = name.split(' ').reverse();
			const item = itemOf(output);
			const given = nameOf(pascal(noun.reverse().join(' ')), pascal(verb));
			if (!wanted(verb) || names.has(item) || taken.has(given)) continue;
			names.set(item, given);
			taken.add(given);
		}
	};
	give(
		(verb) => verb === 'list' || verb === 'search',
		(noun) => noun,
	);
	give(
		(verb) => verb === 'show',
		(noun) => `Whole${noun}`,
	);
	give(
		() => true,
		(noun, verb) => `${noun}${verb}`,
	);
	return names;
}

const schemaNames = namesOf();

/** The schema of an answer, by its name in the components. */
function answerOf(output: z.ZodType): Schema {
	const reference = { $ref: `#/components/schemas/${schemaNames.get(itemOf(output))}` };
	return output instanceof z.ZodArray ? { type: 'array', items: reference } : reference;
}

function describe(operation: Operation): object {
	const { name, summary, method, path, role, input, output } = operation;
	const whole = schemaOf(input, 'input');
	const properties = Object.fromEntries(
		Object.entries((whole['properties'] ?? {}) as Record<string, Schema>).map(([member, schema]) => [
			member,
			{ ...schema, description: meaningOf(operation, member) },
		]),
	);
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
		operationId: name.replaceAll(' ', '-'),
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
			200:
				output === fileContent
					? { description: 'The file', content: { 'application/octet-stream': {} } }
					: { description: 'Done', content: { 'application/json': { schema: answerOf(output) } } },
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
	for (const operation of [...operations, ...fileOperations]) {
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
			schemas: Object.fromEntries([...schemaNames].map(([schema, name]) => [name, schemaOf(schema, 'output')])),
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
