import { stepStatuses } from '#record/procedure-step.ts';

const text = { type: 'string' };
const uid = { type: 'string', maxLength: 64, pattern: '^(0|[1-9][0-9]*)(\\.(0|[1-9][0-9]*))+$' };
const report = {
	type: 'object',
	additionalProperties: false,
	required: ['sop_instance_uid', 'study_uid', 'status'],
	properties: {
		sop_instance_uid: { ...uid, description: 'SOP Instance UID of the MPPS object' },
		study_uid: { ...uid, description: 'Study Instance UID' },
		status: {
			...text,
			description: `${stepStatuses.join(', ')}; in upper or lower case, with blanks, underscores or hyphens`,
			examples: stepStatuses,
		},
		attributes: { type: 'object', default: {}, description: 'Any JSON object; elements of the DICOM JSON Model (PS3.18 F.2) are read' },
	},
};
const example = {
	sop_instance_uid: '1.2.826.0.1.1',
	study_uid: '1.2.826.0.1.2',
	status: 'IN PROGRESS',
	attributes: { '00080060': { vr: 'CS', Value: ['CT'] }, '00100020': { vr: 'LO', Value: ['4711'] } },
};
const accepted = {
	type: 'object',
	required: ['success', 'session_id'],
	properties: { success: { const: true }, session_id: { type: 'string', format: 'uuid' } },
};
const refused = { type: 'object', required: ['success', 'error'], properties: { success: { const: false }, error: text } };
const json = (description: string, schema: object) => ({ description, content: { 'application/json': { schema } } });

/** Returns the OpenAPI 3.1 document of the MPPS surface. `server` is the origin at which it was requested. */
export function mppsOpenApi(version: string, server: string): object {
	return {
		openapi: '3.1.0',
		info: {
			title: 'Tributary MPPS',
			version,
			description:
				'Procedure step reports from modalities and PACS bridges. A request carries one report. It is answered when the report is committed or refused.',
		},
		servers: [{ url: server }],
		security: [{ key: [] }],
		paths: {
			'/ingest': {
				post: {
					tags: ['MPPS'],
					operationId: 'ingest',
					summary: 'Send a procedure step report',
					requestBody: { required: true, content: { 'application/json': { schema: report, example } } },
					responses: {
						200: json('Committed, or a repetition of the last accepted report', accepted),
						400: json('Not a JSON object', refused),
						401: json('No valid key', refused),
						409: json('The procedure step is already final, or belongs to another study', refused),
						413: json('The body is longer than the limit', refused),
						415: json('Not JSON', refused),
						422: json('Refused: `error` says why', refused),
						503: json('Could not be stored now; send it again', refused),
						default: json('Refused by the transport', refused),
					},
				},
			},
		},
		components: { securitySchemes: { key: { type: 'apiKey', in: 'header', name: 'X-API-Key' } } },
	};
}
