import { defineEntity, type InferEntity, p } from '@mikro-orm/core';
import { moveStates } from '#core/move-states.ts';
import { instancePolicies } from '#record/imaging.ts';
import type { Settings } from '#record/settings/settings.ts';

export const Site = defineEntity({
	name: 'Site',
	tableName: 'site',
	properties: {
		id: p.uuid().primary(),
		slug: p.text(),
		name: p.text(),
		aeTitle: p.text().nullable().name('ae_title'),
		defaultAuthority: p.text().nullable().name('default_authority'),
		updateCreates: p.boolean().name('update_creates'),
		checkReferences: p.boolean().name('check_references'),
		instancePolicy: p.enum(instancePolicies).name('instance_policy'),
		/** Null means that only the limit of the node applies. */
		waitingMax: p.integer().nullable().name('waiting_max'),
		associationsMax: p.integer().nullable().name('associations_max'),
		/** The settings without a column of their own. */
		settings: p.json<Settings>(),
		active: p.boolean(),
		createdAt: p.datetime().name('created_at'),
		/** Null unless the site moves to another database. */
		moveState: p.enum(moveStates).nullable().name('move_state'),
		/** Where the other database is, without a password. */
		movePeer: p.text().nullable().name('move_peer'),
		/** The time at which the move began or, once it has left, ended. */
		movedAt: p.datetime().nullable().name('moved_at'),
	},
});
export type Site = InferEntity<typeof Site>;
