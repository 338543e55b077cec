import { defineEntity, type InferEntity, p } from '@mikro-orm/core';
import { Site } from './site.ts';

export const User = defineEntity({
	name: 'User',
	tableName: 'app_user',
	properties: {
		id: p.uuid().primary(),
		email: p.text(),
		passwordHash: p.text().nullable().name('password_hash'),
		administrator: p.boolean(),
		active: p.boolean(),
		createdAt: p.datetime().name('created_at'),
		sites: () => p.manyToMany(Site).pivotTable('site_member').joinColumn('user_id').inverseJoinColumn('site_id'),
	},
});
export type User = InferEntity<typeof User>;
