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
		createdAt: p.datetime().name('created_at'),
		sites: () => p.manyToMany(Site).pivotTable('site_member').joinColumn('user_id').inverseJoinColumn('site_id'),
	},
});
export type User = InferEntity<typeof User>;
