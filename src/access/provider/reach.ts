import { type Role, roles } from '#core/role.ts';

/** One group gives its members this role at these sites. */
export interface GroupGrant {
	role: Role;
	allSites: boolean;
	/** Ids. */
	sites: readonly string[];
}

/**
 * Joins what the groups of a person give. A user has one role at all their sites, so the highest role counts, with the sites that come with
 * it: nobody becomes manager of a site of which they may only read. Returns undefined if no group gives anything.
 */
export function joined(grants: readonly GroupGrant[]): GroupGrant | undefined {
	const role = [...roles].reverse().find((name) => grants.some((grant) => grant.role === name));
	if (role === undefined) return undefined;
	const counting = grants.filter((grant) => grant.role === role);
	return {
		role,
		allSites: role === 'auditor' && counting.some(({ allSites }) => allSites),
		sites: role === 'administrator' ? [] : [...new Set(counting.flatMap(({ sites }) => sites))].sort(),
	};
}
