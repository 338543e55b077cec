import { compartments, membershipOf } from './compartment.ts';
import { bulkPaths } from './openapi-bulk.ts';
import { operationPaths, operationTags, typeOperationPaths } from './openapi-operations.ts';
import {
	answer,
	body,
	fhirJson,
	headerParameter,
	id,
	type Naming,
	type Operation,
	operation,
	type PathItem,
	pathParameter,
	queryParameter,
	ref,
} from './openapi-parts.ts';
import type { Interaction, ResourceDefinition } from './resource.ts';
import { resources } from './resources/index.ts';
import { commonParameters } from './search/parameter.ts';

const bytes = {
	200: {
		description: 'The bytes with their own media type, or the Binary resource with Accept: application/fhir+json',
		content: { '*/*': { schema: { type: 'string', contentEncoding: 'binary' } }, [fhirJson]: { schema: ref('Resource') } },
	},
};

/** Parameters that shape the answer of a search (FHIR R4 §3.1.1.5). */
const resultParameters = [
	queryParameter('_count', 'Entries per page: 50 by default, at most 1000'),
	queryParameter('_sort', 'Sort keys, separated by commas; `-` before a key sorts in descending order'),
	queryParameter('_include', 'Adds resources to which matches refer: `Observation:patient`'),
	queryParameter('_revinclude', 'Adds resources that refer to matches: `Observation:patient`'),
	queryParameter('_include:iterate', 'As _include, also for included resources: `Observation:has-member`'),
	queryParameter('_revinclude:iterate', 'As _revinclude, also for included resources: `Provenance:target`'),
	queryParameter('_elements', 'Only these elements'),
	queryParameter('_summary', 'true, text, data, count or false'),
	queryParameter('_total', 'none, accurate or estimate'),
];

const found = { 200: answer('A Bundle of type searchset', 'Bundle') };
const systemParameters = [
	queryParameter('_type', 'Resource types, separated by commas; all without it'),
	...Object.entries(commonParameters).map(([name, { documentation }]) => queryParameter(name, documentation)),
	queryParameter('_count', 'Entries per page: 50 by default, at most 1000'),
	queryParameter('_elements', 'Only these elements'),
	queryParameter('_summary', 'true, text, data, count or false'),
	queryParameter('_total', 'none, accurate or estimate'),
];

/** The interactions on all types at once, beside the search by GET. */
function systemPaths(): Record<string, PathItem> {
	const form = {
		content: { 'application/x-www-form-urlencoded': { schema: { type: 'object', additionalProperties: { type: 'string' } } } },
	};
	const paged = [
		queryParameter('_since', 'Only versions since this instant'),
		queryParameter('_count', 'Entries per page: 50 by default, at most 1000'),
	];
	return {
		'/fhir/_search': { post: { ...operation('System', 'searchSystemForm', 'Search all types by form', found), requestBody: form } },
		'/fhir/_history': {
			get: operation(
				'System',
				'historyOfSystem',
				'Versions of all resources, newest first',
				{ 200: answer('A Bundle of type history', 'Bundle') },
				paged,
			),
		},
	};
}

/** A Binary is read and written as plain bytes, beside the interactions of every type. */
function binaryPaths(): Record<string, PathItem> {
	const context = headerParameter('X-Security-Context', 'The resource whose rules of access hold for plain bytes: `Patient/1`');
	const stored = { 200: answer('Stored', 'Resource'), 201: answer('Created', 'Resource') };
	const requestBody = {
		required: true,
		content: {
			'*/*': { schema: { type: 'string', contentEncoding: 'binary' } },
			[fhirJson]: { schema: ref('Resource'), example: { resourceType: 'Binary', contentType: 'text/plain', data: 'RXhhbXBsZQ==' } },
		},
	};
	return {
		'/fhir/Binary': { post: { ...operation(otherTag, 'createBinary', 'Store bytes', stored, [context]), requestBody } },
		'/fhir/Binary/{id}': {
			get: operation(otherTag, 'readBinary', 'The bytes', bytes, [id]),
			put: { ...operation(otherTag, 'updateBinary', 'Replace bytes, or store them with this id', stored, [id, context]), requestBody },
		},
	};
}

/** A further interface on the origin of the FHIR surface. */
export interface OpenApiPart {
	tag: string;
	paths: Readonly<Record<string, object>>;
}

/**
 * Builds the OpenAPI 3.1 document of the FHIR surface from the resource definitions, like the routes and the capability statement. `server`
 * is
 * the origin at which it was requested.
 */
export function fhirOpenApi(version: string, server: string, ...others: readonly OpenApiPart[]): object {
	const paths: Record<string, PathItem> = {
		'/fhir/metadata': {
			get: operation('System', 'metadata', 'The capability statement', { 200: answer('CapabilityStatement', 'Resource') }),
		},
		'/fhir/.well-known/smart-configuration': {
			get: {
				...operation('System', 'smartConfiguration', 'Where clients get access tokens (SMART App Launch 2.2)', {
					200: { description: 'The configuration', content: { 'application/json': { schema: { type: 'object' } } } },
				}),
				security: [{}, { key: [] }, { token: [] }],
			},
		},
		...systemPaths(),
		'/fhir': {
			get: operation('System', 'searchSystem', 'Search all types by the parameters that they have in common', found, systemParameters),
			post: {
				...operation('System', 'bundle', 'A batch or transaction', { 200: answer('One entry for each request, in order', 'Bundle') }),
				requestBody: body('Bundle', { resourceType: 'Bundle', type: 'transaction', entry: [] }),
			},
		},
	};
	for (const definition of described) Object.assign(paths, resourcePaths(definition));
	Object.assign(paths, otherPaths(), compartmentPaths(), typeOperationPaths());
	Object.assign(paths, binaryPaths());
	Object.assign(paths, bulkPaths, ...others.map((part) => part.paths));
	return {
		openapi: '3.1.0',
		info: {
			title: 'Tributary FHIR R4',
			version,
			description: 'FHIR 4.0.1 in JSON. An API key or access token belongs to one site, and a request reads and writes only that site.',
		},
		servers: [{ url: server }],
		security: [{ key: [] }, { token: [] }],
		tags: ['System', 'Bulk data', ...described.map(({ type }) => type), otherTag, ...operationTags, ...others.map(({ tag }) => tag)].map(
			(name) => ({
				name,
			}),
		),
		paths,
		components: {
			securitySchemes: {
				key: { type: 'apiKey', in: 'header', name: 'X-API-Key', description: keyDescription },
				token: { type: 'http', scheme: 'bearer', description: 'An access token of the OIDC provider of a site, with SMART scopes' },
			},
			schemas,
		},
	};
}

const keyDescription =
	'A key may be limited to the scopes read, write, ingest and imaging; `security` names the one that an operation needs. A Bundle needs those of its entries.';

const schemas = {
	Resource: {
		type: 'object',
		required: ['resourceType'],
		properties: { resourceType: { type: 'string' }, id: { type: 'string' }, meta: { type: 'object' } },
		description: 'A FHIR R4 resource',
		externalDocs: { url: 'https://hl7.org/fhir/R4/resourcelist.html' },
	},
	Bundle: {
		type: 'object',
		required: ['resourceType', 'type'],
		properties: {
			resourceType: { const: 'Bundle' },
			type: { type: 'string' },
			total: { type: 'integer' },
			entry: { type: 'array', items: { type: 'object' } },
		},
	},
	OperationOutcome: {
		type: 'object',
		required: ['resourceType', 'issue'],
		properties: { resourceType: { const: 'OperationOutcome' }, issue: { type: 'array', items: { type: 'object' } } },
	},
};

/** Types with paths of their own. The others have the same paths, which stand once, with the type as a parameter. */
const described = Object.values(resources).filter(({ table }) => !table.isShared);
const otherTypes = Object.values(resources).filter(({ table }) => table.isShared);
const otherTag = 'OtherType';

function otherPaths(): Record<string, PathItem> {
	const { Organization: example } = resources;
	const type = {
		...pathParameter('type', 'A resource type of R4. The capability statement lists the search parameters of each.'),
		schema: { type: 'string', enum: otherTypes.map((definition) => definition.type) },
		example: example.type,
	};
	const paths = resourcePaths({ ...example, search: {} }, { segment: '{type}', tag: otherTag });
	const ofType = (item: Operation): Operation => ({ ...item, parameters: [type, ...((item['parameters'] as object[] | undefined) ?? [])] });
	return Object.fromEntries(
		Object.entries(paths).map(([path, item]) => [
			path,
			Object.fromEntries(Object.entries(item).map(([method, described]) => [method, ofType(described)])),
		]),
	);
}

/** Searches in a compartment take what a search of the type takes. */
function compartmentPaths(): Record<string, PathItem> {
	const found = { 200: answer('A Bundle of type searchset', 'Bundle') };
	return Object.fromEntries(
		compartments.map((compartment): [string, PathItem] => {
			const members = Object.values(resources).filter((definition) => membershipOf(compartment, definition).length > 0);
			const type = {
				...pathParameter('type', 'A resource type of the compartment. The parameters are those of a search of the type.'),
				schema: { type: 'string', enum: members.map((definition) => definition.type) },
			};
			const common = Object.entries(commonParameters).map(([name, { documentation }]) => queryParameter(name, documentation));
			const parameters = [id, type, ...common, ...resultParameters];
			const get = operation(compartment, `searchIn${compartment}`, `Search what belongs to one ${compartment}`, found, parameters);
			return [`/fhir/${compartment}/{id}/{type}`, { get }];
		}),
	);
}

function resourcePaths(
	definition: ResourceDefinition,
	naming: Naming = { segment: definition.type, tag: definition.type },
): Record<string, PathItem> {
	const { interactions, example } = definition;
	const { segment, tag: type } = naming;
	const of = (interaction: Interaction, item: () => PathItem): PathItem => (interactions.includes(interaction) ? item() : {});
	const named = (name: string) => `${name}${type}`;
	const search = Object.entries({ ...commonParameters, ...definition.search }).map(([name, { documentation }]) =>
		queryParameter(name, documentation),
	);
	const found = { 200: answer('A Bundle of type searchset', 'Bundle') };
	const one = { 200: answer(type, 'Resource') };
	const deleted = {
		200: answer('Deleted, with Prefer: return=OperationOutcome', 'OperationOutcome'),
		204: { description: 'Deleted, or not there' },
	};
	const versions = { 200: answer('A Bundle of type history', 'Bundle') };
	const form = {
		content: { 'application/x-www-form-urlencoded': { schema: { type: 'object', additionalProperties: { type: 'string' } } } },
	};
	const paths: Record<string, PathItem> = {
		[`/fhir/${segment}`]: {
			...of('search-type', () => ({ get: operation(type, named('search'), 'Search', found, [...search, ...resultParameters]) })),
			...of('create', () => writes({ type, example }).create),
			...of('delete', () => ({
				delete: operation(type, named('conditionalDelete'), 'Delete the one that a search finds', deleted, search),
			})),
		},
		[`/fhir/${segment}/_search`]: of('search-type', () => ({
			post: { ...operation(type, named('searchForm'), 'Search by form', found), requestBody: form },
		})),
		[`/fhir/${segment}/{id}`]: {
			...of('read', () => ({
				get: operation(type, named('read'), 'Read', one, [
					id,
					headerParameter('If-None-Match', 'The ETag of a version that the client already has'),
				]),
			})),
			...of('update', () => writes({ type, example }).update),
			...of('delete', () => ({
				delete: operation(type, named('delete'), 'Delete, where the site permits it', deleted, [
					id,
					headerParameter('If-Match', 'The version to delete: `W/"1"`'),
				]),
			})),
		},
		[`/fhir/${segment}/_history`]: of('history-type', () => ({
			get: operation(type, named('historyOfType'), 'History of all resources of the type', versions),
		})),
		[`/fhir/${segment}/{id}/_history`]: of('history-instance', () => ({
			get: operation(type, named('history'), 'Versions', versions, [id]),
		})),
		[`/fhir/${segment}/{id}/_history/{version}`]: of('vread', () => ({
			get: operation(type, named('vread'), 'Read a version', one, [id, pathParameter('version', 'The version number')]),
		})),
	};
	return { ...paths, ...operationPaths(definition, naming) };
}

function writes({ type, example }: { type: string; example: object }): Record<'create' | 'update', PathItem> {
	const stored = { 200: answer('Stored', 'Resource'), 201: answer('Created', 'Resource') };
	const criteria = headerParameter('If-None-Exist', 'A search; the resource is created only if nothing matches');
	const match = headerParameter('If-Match', 'The version to replace: `W/"1"`');
	const patch = [{ op: 'add', path: '/language', value: 'en' }];
	return {
		create: { post: { ...operation(type, `create${type}`, 'Create', stored, [criteria]), requestBody: body('Resource', example) } },
		update: {
			put: {
				...operation(type, `update${type}`, 'Update, or create with this id', stored, [id, match]),
				requestBody: body('Resource', example),
			},
			patch: {
				...operation(type, `patch${type}`, 'Patch', { 200: answer(type, 'Resource') }, [id, match]),
				requestBody: body('Resource', patch, 'application/json-patch+json'),
			},
		},
	};
}
