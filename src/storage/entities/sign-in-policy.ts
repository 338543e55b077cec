import { defineEntity, type InferEntity, p } from '@mikro-orm/core';

/** The rules of the network for people who sign in. There is one row. */
export const SignInPolicy = defineEntity({
	name: 'SignInPolicy',
	tableName: 'sign_in_policy',
	properties: {
		network: p.boolean().primary(),
		/** These roles need a second factor where they sign in with a password. */
		secondFactorRoles: p.array().columnType('text[]').name('second_factor_roles'),
	},
});
export type SignInPolicy = InferEntity<typeof SignInPolicy>;
