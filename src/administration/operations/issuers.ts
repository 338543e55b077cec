import { z } from 'zod';
import type { OperationContext } from '../context.ts';
import { addIssuer, addIssuerInput, issuerRecord, listIssuers, removeIssuer, setIssuer, setIssuerInput, showIssuer } from '../issuers.ts';
import { defineOperation } from '../operation.ts';
import { ofSite } from '../schemas.ts';
import { foundOrNull } from '../visible-sites.ts';

const options = { clients: 'client' };
const files = { introspection_secret: 'text' } as const;
const values = {
	site: 'slug',
	id: 'issuer-id',
	owner: 'email',
	label: 'text',
	issuer: 'url',
	audience: 'aud',
	clients: 'client-id',
	jwks_url: 'url',
	token_endpoint: 'url',
	client_claim: 'claim',
	scope_claim: 'claim',
	site_claim: 'claim',
	site_value: 'value',
	introspection_url: 'url',
	introspection_client: 'client-id',
	introspection_secret: 'secret | @file',
};
const object = {
	scope: 'object',
	called: 'issuer',
	find: (context: OperationContext, { id }: { id: string }) => foundOrNull(showIssuer(context, id)),
	output: issuerRecord,
} as const;
const one = { ...object, input: z.strictObject({ id: z.string() }), commandLine: { positionals: ['id'], values } } as const;

export const issuerOperations = [
	defineOperation({
		name: 'issuer add',
		summary: 'lets clients of an OIDC provider use a site by access tokens',
		method: 'POST',
		path: '/issuers',
		role: 'manager',
		scope: 'site',
		input: addIssuerInput,
		output: issuerRecord,
		commandLine: { options, values, files },
		example: {
			site: 'north',
			owner: 'radiology@example.org',
			label: 'hospital sign-on',
			issuer: 'https://login.example.org/realms/north',
			audience: 'https://tributary.example.org/fhir',
			clients: ['research-export'],
		},
		run: addIssuer,
	}),
	defineOperation({
		name: 'issuer list',
		summary: 'lists the issuers whose access tokens are taken, newest first',
		method: 'GET',
		path: '/issuers',
		role: 'auditor',
		scope: 'sites',
		input: z.strictObject(ofSite),
		output: z.array(issuerRecord),
		commandLine: { values },
		example: { site: 'north' },
		run: listIssuers,
	}),
	defineOperation({
		...one,
		name: 'issuer show',
		summary: 'shows an issuer without its secret',
		method: 'GET',
		path: '/issuers/{id}',
		role: 'auditor',
		example: (idOf) => ({ id: idOf('issuer add') }),
		run: async (_context, _input, found) => found,
	}),
	defineOperation({
		...object,
		name: 'issuer set',
		summary: 'changes an issuer; an empty value removes what is optional',
		method: 'PATCH',
		path: '/issuers/{id}',
		role: 'manager',
		input: setIssuerInput,
		commandLine: { positionals: ['id'], options, values, files },
		example: (idOf) => ({ id: idOf('issuer add'), clients: ['research-export', 'registry'] }),
		run: setIssuer,
	}),
	defineOperation({
		...one,
		name: 'issuer disable',
		summary: 'disables an issuer; its tokens are refused with their next request',
		method: 'POST',
		path: '/issuers/{id}/disable',
		role: 'manager',
		example: (idOf) => ({ id: idOf('issuer add') }),
		run: (context, { id }) => setIssuer(context, { id, active: false }),
	}),
	defineOperation({
		...one,
		name: 'issuer enable',
		summary: 'lets the tokens of a disabled issuer be used again',
		method: 'POST',
		path: '/issuers/{id}/enable',
		role: 'manager',
		example: (idOf) => ({ id: idOf('issuer add') }),
		run: (context, { id }) => setIssuer(context, { id, active: true }),
	}),
	defineOperation({
		...one,
		name: 'issuer remove',
		summary: 'removes an issuer; its tokens are refused',
		method: 'DELETE',
		path: '/issuers/{id}',
		role: 'manager',
		example: (idOf) => ({ id: idOf('issuer add') }),
		run: (context, { id }) => removeIssuer(context, id),
	}),
];
