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

function exporting(operationId: string, summary: string): { get: object } {
	const parameters = [
		{ ...text('Prefer', 'header', '`respond-async`'), required: true },
		text('_type', 'query', 'Resource types, separated by commas'),
		text('_since', 'query', 'An instant; only resources changed since then'),
		text('_outputFormat', 'query', '`application/fhir+ndjson`'),
	];
	return { get: operation(operationId, summary, accepted, { parameters }) };
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
	'/fhir/$import': {
		post: operation('import', 'Import resources; ids are kept, and existing resources get a new version', accepted, {
			requestBody: { required: true, content: ndjson },
		}),
	},
	...jobPaths('export'),
	...jobPaths('import'),
};
