import { z } from 'zod';
import { type Role, roles } from '#core/role.ts';
import { SignInPolicy } from '#storage/entities/index.ts';
import { type AdministrationContext, change } from './context.ts';

export const policyRecord = z.strictObject({
	second_factor_roles: z.array(z.enum(roles)).describe('local accounts of these roles need a second factor'),
});
type PolicyRecord = z.infer<typeof policyRecord>;

function record({ secondFactorRoles }: SignInPolicy): PolicyRecord {
	return { second_factor_roles: secondFactorRoles as Role[] };
}

export async function showPolicy({ em }: AdministrationContext): Promise<PolicyRecord> {
	return record(await em.fork().findOneOrFail(SignInPolicy, { network: true }));
}

/** It is in force with the next request. Whoever lacks a second factor sets one up before anything else. */
export function setPolicy(context: AdministrationContext, input: PolicyRecord): Promise<PolicyRecord> {
	return change(context, async (em) => {
		const policy = await em.findOneOrFail(SignInPolicy, { network: true });
		const before = record(policy);
		policy.secondFactorRoles = roles.filter((role) => input.second_factor_roles.includes(role));
		const after = record(policy);
		return [after, { action: 'sign-in.policy-set', subject: 'sign-in', siteId: null, before, after }];
	});
}
