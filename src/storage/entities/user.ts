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
		/** When the password was made by somebody else, who therefore knows it: it has to be changed. Null of one that its user chose. */
		oneTimeSince: p.datetime().nullable().name('one_time_since'),
		role: p.enum(roles),
		/** Of an auditor: reads all sites, those that come as well. */
		allSites: p.boolean().name('all_sites'),
		active: p.boolean(),
		createdAt: p.datetime().name('created_at'),
		sites: () => p.manyToMany(Site).pivotTable('site_member').joinColumn('user_id').inverseJoinColumn('site_id'),
	},
});
export type User = InferEntity<typeof User>;
