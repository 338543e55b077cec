import { z } from 'zod';
import { defineOperation } from '../operation.ts';
import { addGroup, addGroupInput, groupRecord, listGroups, namedGroup, removeGroup } from '../sign-in-groups.ts';
import { policyRecord, setPolicy, showPolicy } from '../sign-in-policy.ts';

const network = { role: 'administrator', scope: 'network' } as const;

export const signInOperations = [
	defineOperation({
		...network,
		name: 'sign-in group add',
		summary: 'gives the members of a group of the sign-in provider a role at sites',
		method: 'POST',
		path: '/sign-in/groups',
		input: addGroupInput,
		output: groupRecord,
		commandLine: { positionals: ['name'], options: { sites: 'site' }, values: { name: 'group', sites: 'slug' } },
		example: { name: 'radiology-managers', role: 'manager', sites: ['north'] },
		run: addGroup,
	}),
	defineOperation({
		...network,
		name: 'sign-in group list',
		summary: 'lists the groups of the sign-in provider that give a role',
		method: 'GET',
		path: '/sign-in/groups',
		input: z.strictObject({}),
		output: z.array(groupRecord),
		commandLine: {},
		example: {},
		run: listGroups,
	}),
	defineOperation({
		...network,
		name: 'sign-in group remove',
		summary: 'takes the role from the members of a group; people whom the provider signed in have to sign in again',
		method: 'DELETE',
		path: '/sign-in/groups/{id}',
		input: namedGroup,
		output: groupRecord,
		commandLine: { positionals: ['id'], values: { id: 'group-id' } },
		example: (idOf) => ({ id: idOf('sign-in group add') }),
		run: removeGroup,
	}),
	defineOperation({
		...network,
		name: 'sign-in policy show',
		summary: 'shows what the network asks of people who sign in',
		method: 'GET',
		path: '/sign-in/policy',
		input: z.strictObject({}),
		output: policyRecord,
		commandLine: {},
		example: {},
		run: showPolicy,
	}),
	defineOperation({
		...network,
		name: 'sign-in policy set',
		summary: 'requires a second factor for local accounts with these roles; an empty list requires it for none',
		method: 'PUT',
		path: '/sign-in/policy',
		input: policyRecord,
		output: policyRecord,
		commandLine: { options: { second_factor_roles: 'second-factor' }, values: { second_factor_roles: 'role' } },
		example: { second_factor_roles: [] },
		run: setPolicy,
	}),
];
