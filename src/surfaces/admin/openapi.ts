import type { z } from 'zod';
import { listAuditInput } from '#administration/audit.ts';
import { operationsOpenApi, schemaOf } from '#administration/openapi.ts';
import { overviewOutput, overviewStateOutput, pointOutput } from '#administration/overview.ts';
import { auditExportPath } from './audit-export.ts';
import { overviewPath } from './live/routes.ts';
import { changePasswordInput, sessionOutput, sessionPath, signInInput } from './session-routes.ts';

const json = (description: string, schema: z.ZodType) => ({
	description,
	content: { 'application/json': { schema: schemaOf(schema, 'output') } },
});
const refused = (...statuses: number[]) =>
	Object.fromEntries(statuses.map((status) => [status, { $ref: `#/components/responses/${status}` }]));
const read = [{ session: [] }];
const change = [{ session: [], csrf: [] }];

function body(schema: z.ZodType, example: object): object {
	return { required: true, content: { 'application/json': { schema: schemaOf(schema, 'input'), example } } };
}

/** The paths beside the operations: signing in and out, and live figures. */
const paths = {
	[sessionPath]: {
		post: {
			tags: ['session'],
			operationId: 'session-begin',
			summary: 'signs in',
			description:
				'The cookie `tributary_session` carries the sign-in session. Send `csrf_token` as the header X-CSRF-Token with every method except GET.',
			requestBody: body(signInInput, { email: 'admin@localhost', password: 'a password of your own' }),
			responses: { 200: json('Signed in', sessionOutput), ...refused(400, 401, 403, 429) },
		},
		get: {
			tags: ['session'],
			operationId: 'session-show',
			summary: 'shows the signed-in user',
			security: read,
			responses: { 200: json('The session', sessionOutput), ...refused(401) },
		},
		delete: {
			tags: ['session'],
			operationId: 'session-end',
			summary: 'signs out',
			security: change,
			responses: { 204: { description: 'Signed out' }, ...refused(401, 403) },
		},
	},
	[`${sessionPath}/password`]: {
		put: {
			tags: ['session'],
			operationId: 'session-password',
			summary: 'changes your password; your other sign-in sessions end',
			security: change,
			requestBody: body(changePasswordInput, { current: 'a password of your own', password: 'your new password' }),
			responses: { 204: { description: 'Changed' }, ...refused(400, 401, 403, 422, 429) },
		},
	},
	[auditExportPath]: {
		get: {
			tags: ['audit'],
			operationId: 'audit-export',
			summary: 'exports the audit trail as CSV (RFC 4180), newest first; it takes the filters of the list',
			security: read,
			parameters: Object.entries(listAuditInput.omit({ limit: true, before: true }).shape).map(([name, schema]) => ({
				name,
				in: 'query',
				required: false,
				schema: schemaOf(schema, 'input'),
			})),
			responses: {
				200: { description: 'The CSV file', content: { 'text/csv': { schema: { type: 'string' } } } },
				...refused(400, 401, 403),
			},
		},
	},
	[overviewPath]: {
		get: {
			tags: ['overview'],
			operationId: 'overview-show',
			summary: 'shows the last hour of this node; without access to all sites, only the figures of your sites',
			security: read,
			responses: { 200: json('Figures', overviewOutput), ...refused(401, 403) },
		},
	},
	[`${overviewPath}/live`]: {
		get: {
			tags: ['overview'],
			operationId: 'overview-live',
			summary: 'streams server-sent events: the latest point at once, then a new point every ten seconds, each with the current state',
			security: read,
			responses: {
				200: {
					description: 'The data of a `point` event is a point. The data of a `state` event is the overview without its points',
					content: {
						'text/event-stream': {
							schema: {
								type: 'string',
								contentMediaType: 'application/json',
								contentSchema: { anyOf: [schemaOf(pointOutput, 'output'), schemaOf(overviewStateOutput, 'output')] },
							},
						},
					},
				},
				...refused(401, 403),
			},
		},
	},
};

/** Returns the OpenAPI 3.1 document of the admin surface. `server` is the origin at which it was requested. */
export function adminOpenApi(version: string, server: string): object {
	return operationsOpenApi(version, server, paths);
}
