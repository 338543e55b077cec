import { defineEntity, type InferEntity, p } from '@mikro-orm/core';
import { roles } from '#core/role.ts';
import { Site } from './site.ts';

export const User = defineEntity({
	name: 'User',
	tableName: 'app_user',
	properties: {
		id: p.uuid().primary(),
		email: p.text(),
		passwordHash: p.text().nullable().name('password_hash'),
		/**
		 * The time at which somebody else made the password and therefore knows it, so that it must be changed. Null when the user chose it.
		 */
		oneTimeSince: p.datetime().nullable().name('one_time_since'),
		role: p.enum(roles),
		/** True for an auditor who reads all sites, including new ones. */
		allSites: p.boolean().name('all_sites'),
		active: p.boolean(),
		/** The sealed secret of a second factor. Statements change it. */
		secondFactor: p.blob().nullable().name('second_factor').persist(false),
		/** An account signs in by its password, or by the OIDC provider. */
		signIn: p
			.enum(['local', 'provider'] as const)
			.name('sign_in')
			.default('local'),
		/** The subject of the provider who has the account. Both are null for a local one, and for one that waits for its first sign-in. */
		providerIssuer: p.text().nullable().name('provider_issuer'),
		providerSubject: p.text().nullable().name('provider_subject'),
		/** The last sign-in. Statements change it. */
		signedInAt: p.datetime().nullable().name('signed_in_at').persist(false),
		createdAt: p.datetime().name('created_at'),
		sites: () => p.manyToMany(Site).pivotTable('site_member').joinColumn('user_id').inverseJoinColumn('site_id'),
	},
});
export type User = InferEntity<typeof User>;
