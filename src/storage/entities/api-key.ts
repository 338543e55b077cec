import { defineEntity, type InferEntity, p } from '@mikro-orm/core';
import type { Settings } from '#record/settings/settings.ts';
import { Site } from './site.ts';
import { User } from './user.ts';

export const ApiKey = defineEntity({
	name: 'ApiKey',
	tableName: 'api_key',
	properties: {
		id: p.text().primary(),
		site: () => p.manyToOne(Site).joinColumn('site_id'),
		owner: () => p.manyToOne(User).joinColumn('owner_id'),
		label: p.text(),
		secretHash: p.blob().name('secret_hash'),
		settings: p.json<Settings>(),
		createdAt: p.datetime().name('created_at'),
		lastUsedAt: p.datetime().nullable().name('last_used_at'),
		revokedAt: p.datetime().nullable().name('revoked_at'),
		/** Null for a key that never ends by itself. */
		expiresAt: p.datetime().nullable().name('expires_at'),
		/** Null for a key without limits. */
		scopes: p.array().columnType('text[]').nullable(),
		/** The id of the key that follows it. */
		replacedBy: p.text().nullable().name('replaced_by'),
	},
});
export type ApiKey = InferEntity<typeof ApiKey>;
