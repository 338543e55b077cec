const outcome = { content: { 'application/fhir+json': { schema: { $ref: '#/components/schemas/OperationOutcome' } } } };
const refused = { default: { description: 'What was wrong', ...outcome } };
const ndjson = { 'application/fhir+ndjson': { schema: { type: 'string', description: 'A resource a line' } } };
const text = (name: string, place: string, description: string) => ({
	name,
	in: place,
	required: place === 'path',
	description,
	schema: { type: 'string' },
});

const accepted = {
	202: {
		description: 'Accepted: its status is at Content-Location',
		headers: { 'Content-Location': { schema: { type: 'string' } } },
		...outcome,
	},
};
const manifest = { type: 'object', required: ['transactionTime', 'request', 'requiresAccessToken', 'output', 'error'] };
const polled = {
	200: { description: 'It is done: its manifest', content: { 'application/json': { schema: manifest } } },
	202: { description: 'It goes on: X-Progress, Retry-After' },
};
const job = text('job', 'path', 'The id of the job');

function operation(operationId: string, summary: string, responses: object, more: object = {}): object {
	return { tags: ['Bulk data'], operationId, summary, ...more, responses: { ...responses, ...refused } };
}

function exporting(operationId: string, summary: string): { get: object } {
	const parameters = [
		{ ...text('Prefer', 'header', '`respond-async`'), required: true },
		text('_type', 'query', 'Resource types between commas'),
		text('_since', 'query', 'An instant: only what has changed later'),
		text('_outputFormat', 'query', '`application/fhir+ndjson`'),
	];
	return { get: operation(operationId, summary, accepted, { parameters }) };
}

function jobPaths(kind: 'export' | 'import'): Record<string, object> {
	const remove = { 202: { description: 'It is ended, its files are removed', ...outcome } };
	const lines = { 200: { description: 'NDJSON', content: ndjson } };
	return {
		[`/fhir/$${kind}-status/{job}`]: {
			get: operation(`${kind}Status`, `How far an ${kind} is`, polled, { parameters: [job] }),
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
	'/fhir/Patient/$export': exporting('exportPatients', 'Export patients and what is about them'),
	'/fhir/$import': {
		post: operation('import', 'Import resources: ids are kept, known ones get a new version', accepted, {
			requestBody: { required: true, content: ndjson },
		}),
	},
	...jobPaths('export'),
	...jobPaths('import'),
};
