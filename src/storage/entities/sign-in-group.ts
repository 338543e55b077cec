import { defineEntity, type InferEntity, p } from '@mikro-orm/core';
import { roles } from '#core/role.ts';
import { Site } from './site.ts';

/** A group of the sign-in provider, and what its members may do here. */
export const SignInGroup = defineEntity({
	name: 'SignInGroup',
	tableName: 'sign_in_group',
	properties: {
		id: p.uuid().primary(),
		name: p.text(),
		role: p.enum(roles),
		allSites: p.boolean().name('all_sites'),
		createdAt: p.datetime().name('created_at'),
		sites: () => p.manyToMany(Site).pivotTable('sign_in_group_site').joinColumn('group_id').inverseJoinColumn('site_id'),
	},
});
export type SignInGroup = InferEntity<typeof SignInGroup>;
