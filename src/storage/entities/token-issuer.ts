import { defineEntity, type InferEntity, p } from '@mikro-orm/core';
import { Site } from './site.ts';
import { User } from './user.ts';

export const TokenIssuer = defineEntity({
	name: 'TokenIssuer',
	tableName: 'token_issuer',
	properties: {
		site: () => p.manyToOne(Site).joinColumn('site_id').primary(),
		id: p.uuid().primary(),
		label: p.text(),
		owner: () => p.manyToOne(User).joinColumn('owner_id'),
		issuer: p.text(),
		audience: p.text(),
		clients: p.array().columnType('text[]'),
		jwksUrl: p.text().nullable().name('jwks_url'),
		tokenEndpoint: p.text().nullable().name('token_endpoint'),
		clientClaim: p.text().nullable().name('client_claim'),
		scopeClaim: p.text().nullable().name('scope_claim'),
		siteClaim: p.text().nullable().name('site_claim'),
		siteValue: p.text().nullable().name('site_value'),
		introspectionUrl: p.text().nullable().name('introspection_url'),
		introspectionClient: p.text().nullable().name('introspection_client'),
		/** It goes to the provider as it is, so no digest of it would do. No operation shows it. */
		introspectionSecret: p.text().nullable().name('introspection_secret'),
		active: p.boolean(),
		createdAt: p.datetime().name('created_at'),
	},
});
export type TokenIssuer = InferEntity<typeof TokenIssuer>;
