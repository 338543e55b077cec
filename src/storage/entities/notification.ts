import { defineEntity, type InferEntity, p } from '@mikro-orm/core';
import { Site } from './site.ts';
import { User } from './user.ts';

/** A person, a site, or, without either, the network is told of alerts. */
export const Notification = defineEntity({
	name: 'Notification',
	tableName: 'notification',
	properties: {
		id: p.uuid().primary(),
		user: () => p.manyToOne(User).joinColumn('user_id').nullable(),
		site: () => p.manyToOne(Site).joinColumn('of_site').nullable(),
		by: p.text().$type<'email' | 'webhook'>(),
		target: p.text(),
		secret: p.blob().nullable(),
		alerts: p.array().columnType('text[]'),
		severities: p.array().columnType('text[]').$type<('critical' | 'warning' | 'info')[]>(),
		sites: p.array().columnType('uuid[]'),
		active: p.boolean(),
		createdAt: p.datetime().name('created_at'),
	},
});
export type Notification = InferEntity<typeof Notification>;
