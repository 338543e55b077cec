const outcome = { content: { 'application/fhir+json': { schema: { $ref: '#/components/schemas/OperationOutcome' } } } };
const refused = { default: { description: 'The request was refused; the outcome says why', ...outcome } };
const ndjson = { 'application/fhir+ndjson': { schema: { type: 'string', description: 'One resource per line' } } };
const text = (name: string, place: string, description: string) => ({
	name,
	in: place,
	required: place === 'path',
	description,
	schema: { type: 'string' },
});

const accepted = {
	202: {
		description: 'Accepted; Content-Location has the URL of the status',
		headers: { 'Content-Location': { schema: { type: 'string' } } },
		...outcome,
	},
};
const manifest = { type: 'object', required: ['transactionTime', 'request', 'requiresAccessToken', 'output', 'error'] };
const polled = {
	200: { description: 'Completed; the manifest', content: { 'application/json': { schema: manifest } } },
	202: { description: 'In progress; see X-Progress and Retry-After' },
};
const job = text('job', 'path', 'The id of the job');

function operation(operationId: string, summary: string, responses: object, more: object = {}): object {
	return { tags: ['Bulk data'], operationId, summary, ...more, responses: { ...responses, ...refused } };
}

/** Both methods take the same parameters: GET in the query, POST in a Parameters resource. */
function exporting(operationId: string, summary: string, path: readonly object[] = []): { get: object; post: object } {
	const prefer = {
		...text('Prefer', 'header', '`respond-async`; with `handling=lenient` what is not supported is ignored'),
		required: true,
	};
	const parameters = [
		...path,
		prefer,
		text('_type', 'query', 'Resource types, separated by commas'),
		text('_since', 'query', 'An instant; only resources changed since then'),
		text(
			'_typeFilter',
			'query',
			'Searches of the form `<type>?<query>`, repeated or separated by commas; one has to find a resource of its type',
		),
		text('_elements', 'query', 'Elements that are shown, as `<element>` or `<type>.<element>`'),
		text('_outputFormat', 'query', '`application/fhir+ndjson`'),
	];
	const requestBody = {
		required: true,
		description: 'A Parameters resource with the same parameters. Exports of patients take `patient`, too, repeated: `Patient/<id>`.',
		content: { 'application/fhir+json': { schema: { $ref: '#/components/schemas/Resource' } } },
	};
	return {
		get: operation(operationId, summary, accepted, { parameters }),
		post: operation(`${operationId}ByPost`, summary, accepted, { parameters: [...path, prefer], requestBody }),
	};
}

function jobPaths(kind: 'export' | 'import'): Record<string, object> {
	const remove = { 202: { description: 'Cancelled or deleted; its files are removed', ...outcome } };
	const lines = { 200: { description: 'NDJSON', content: ndjson } };
	return {
		[`/fhir/$${kind}-status/{job}`]: {
			get: operation(`${kind}Status`, `Status of an ${kind}`, polled, { parameters: [job] }),
			delete: operation(`${kind}Delete`, `Cancel an ${kind}, or remove its files`, remove, { parameters: [job] }),
		},
		[`/fhir/$${kind}-file/{job}/{file}`]: {
			get: operation(`${kind}File`, `A file of an ${kind}`, lines, { parameters: [job, text('file', 'path', '`Patient.ndjson`')] }),
		},
	};
}

/** The OpenAPI paths of the bulk operations. */
export const bulkPaths: Readonly<Record<string, object>> = {
	'/fhir/$export': exporting('export', 'Export the site'),
	'/fhir/Patient/$export': exporting('exportPatients', 'Export patients and the resources that refer to them'),
	'/fhir/Group/{id}/$export': exporting('exportGroup', 'Export the members of a Group and the resources that refer to them', [
		text('id', 'path', 'The id of the Group'),
	]),
	'/fhir/$import': {
		post: operation('import', 'Import resources; ids are kept, and existing resources get a new version', accepted, {
			requestBody: { required: true, content: ndjson },
		}),
	},
	...jobPaths('export'),
	...jobPaths('import'),
};
