import { defineEntity, type InferEntity, p } from '@mikro-orm/core';
import type { Settings } from '#record/settings/settings.ts';
import { Site } from './site.ts';

export const IntegrationClient = defineEntity({
	name: 'IntegrationClient',
	tableName: 'integration_client',
	properties: {
		site: () => p.manyToOne(Site).joinColumn('site_id').primary(),
		id: p.uuid().primary(),
		name: p.text(),
		protocols: p.array().columnType('text[]'),
		allowedIps: p.array().columnType('text[]').name('allowed_ips'),
		sendingApplication: p.text().nullable().name('sending_application'),
		sendingFacility: p.text().nullable().name('sending_facility'),
		callingAe: p.text().nullable().name('calling_ae'),
		ackMode: p.text().name('ack_mode'),
		alsoEvents: p.array().columnType('text[]').name('also_events'),
		ignoreEvents: p.array().columnType('text[]').name('ignore_events'),
		grants: p.array().columnType('text[]'),
		/** The settings without a column of their own. */
		settings: p.json<Settings>(),
		active: p.boolean(),
		createdAt: p.datetime().name('created_at'),
	},
});
export type IntegrationClient = InferEntity<typeof IntegrationClient>;
