import { z } from 'zod';
import { listAuditInput } from '#administration/audit.ts';
import { tailMessagesInput } from '#administration/message-tail.ts';
import { messageRecord } from '#administration/messages.ts';
import { operationsOpenApi, schemaOf } from '#administration/openapi.ts';
import { overviewOutput, overviewStateOutput, pointOutput } from '#administration/overview.ts';
import { auditExportPath } from './audit-export.ts';
import { overviewPath, tailPath } from './live/routes.ts';
import { picturePaths } from './picture-openapi.ts';
import { providerPath, waysOutput, waysPath } from './provider-routes.ts';
import {
	beginFactorInput,
	codeInput,
	factorOutput,
	newFactorOutput,
	recoveryCodesOutput,
	secondFactorPath,
} from './second-factor-routes.ts';
import { changePasswordInput, sessionOutput, sessionPath, signedOutOutput, signInInput } from './session-routes.ts';

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
			responses: {
				200: json('Signed out here; the browser goes to the OIDC provider to sign out there', signedOutOutput),
				204: { description: 'Signed out' },
				...refused(401, 403),
			},
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
	[waysPath]: {
		get: {
			tags: ['session'],
			operationId: 'session-ways',
			summary: 'tells how people sign in; it needs no session',
			security: [],
			responses: { 200: json('The ways to sign in', waysOutput), ...refused(403) },
		},
	},
	[providerPath]: {
		get: {
			tags: ['session'],
			operationId: 'session-provider',
			summary: 'sends the browser to the OIDC provider, which sends it back with a session',
			security: [],
			parameters: [
				{ name: 'return', in: 'query', required: false, description: 'the page of the console to return to', schema: { type: 'string' } },
			],
			responses: { 303: { description: 'To the provider, or to a page that says why not' }, ...refused(403, 404) },
		},
	},
	[secondFactorPath]: {
		get: {
			tags: ['session'],
			operationId: 'second-factor-show',
			summary: 'tells whether your account has a second factor',
			security: read,
			responses: { 200: json('The second factor', factorOutput), ...refused(401) },
		},
		post: {
			tags: ['session'],
			operationId: 'second-factor-begin',
			summary: 'makes a secret for an authenticator app (RFC 6238); it is not in force before a code of it is given',
			security: change,
			requestBody: body(beginFactorInput, { password: 'a password of your own' }),
			responses: { 200: json('The secret, shown only now', newFactorOutput), ...refused(400, 401, 403, 422, 429) },
		},
		put: {
			tags: ['session'],
			operationId: 'second-factor-confirm',
			summary: 'puts the secret in force by a code of it; your other sign-in sessions end',
			security: change,
			requestBody: body(codeInput, { code: '123456' }),
			responses: { 200: json('Recovery codes, shown only once', recoveryCodesOutput), ...refused(400, 401, 403, 409, 422, 429) },
		},
	},
	[`${secondFactorPath}/recovery-codes`]: {
		post: {
			tags: ['session'],
			operationId: 'second-factor-recovery-codes',
			summary: 'makes new recovery codes; the former ones are of no use any more',
			security: change,
			requestBody: body(codeInput, { code: '123456' }),
			responses: { 200: json('Recovery codes, shown only once', recoveryCodesOutput), ...refused(400, 401, 403, 422, 429) },
		},
	},
	[`${secondFactorPath}/remove`]: {
		post: {
			tags: ['session'],
			operationId: 'second-factor-remove',
			summary: 'takes the second factor away, unless the policy of the network requires it',
			security: change,
			requestBody: body(codeInput, { code: '123456' }),
			responses: { 204: { description: 'Removed' }, ...refused(400, 401, 403, 422, 429) },
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
	[tailPath]: {
		get: {
			tags: ['messages'],
			operationId: 'messages-tail-live',
			summary: 'streams server-sent events: messages as they are logged by any node, with the filters of the list',
			security: read,
			parameters: Object.entries(tailMessagesInput.omit({ since: true, limit: true }).shape).map(([name, schema]) => ({
				name,
				in: 'query',
				required: false,
				schema: schemaOf(schema, 'input'),
			})),
			responses: {
				200: {
					description:
						'The data of a `messages` event is a list of messages, oldest first. A `skipped` event says that messages before it are left out',
					content: {
						'text/event-stream': {
							schema: { type: 'string', contentMediaType: 'application/json', contentSchema: schemaOf(z.array(messageRecord), 'output') },
						},
					},
				},
				...refused(400, 401, 403),
			},
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

const pictures = picturePaths(refused(400, 401, 403, 404, 422));

/** Returns the OpenAPI 3.1 document of the admin surface. `server` is the origin at which it was requested. */
export function adminOpenApi(version: string, server: string): object {
	return operationsOpenApi(version, server, { ...paths, ...pictures });
}
