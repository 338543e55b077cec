import { defineEntity, type InferEntity, p } from '@mikro-orm/core';
import { Site } from './site.ts';

export const RemoteAe = defineEntity({
	name: 'RemoteAe',
	tableName: 'remote_ae',
	properties: {
		site: () => p.manyToOne(Site).joinColumn('site_id').primary(),
		id: p.uuid().primary(),
		title: p.text(),
		host: p.text(),
		port: p.integer(),
		tls: p.boolean(),
		createdAt: p.datetime().name('created_at'),
	},
});
export type RemoteAe = InferEntity<typeof RemoteAe>;
