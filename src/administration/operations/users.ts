import { z } from 'zod';
import { defineOperation } from '../operation.ts';
import { addUser, addUserInput, enableUser, listUsers, newPassword, resetPassword, showUser, userRecord } from '../users.ts';

const named = z.strictObject({ email: z.string() });
const one = { role: 'administrator', scope: 'network', input: named, commandLine: { positionals: ['email'] } } as const;
const example = { email: 'radiology@example.org' };

export const userOperations = [
	defineOperation({
		name: 'user add',
		summary: 'adds a user',
		method: 'POST',
		path: '/users',
		role: 'administrator',
		scope: 'network',
		input: addUserInput,
		output: userRecord,
		commandLine: { positionals: ['email'], options: { sites: 'site' }, values: { sites: 'slug' } },
		example: { ...example, sites: ['north'] },
		run: addUser,
	}),
	defineOperation({
		name: 'user list',
		summary: 'lists the users; who is of some sites sees who shares one of them',
		method: 'GET',
		path: '/users',
		role: 'manager',
		scope: 'sites',
		input: z.strictObject({}),
		output: z.array(userRecord),
		commandLine: {},
		example: {},
		run: listUsers,
	}),
	defineOperation({
		...one,
		name: 'user show',
		summary: 'shows a user',
		method: 'GET',
		path: '/users/{email}',
		output: userRecord,
		example,
		run: (context, { email }) => showUser(context, email),
	}),
	defineOperation({
		...one,
		name: 'user disable',
		summary: 'refuses the user and every key that the user owns',
		method: 'POST',
		path: '/users/{email}/disable',
		output: userRecord,
		example,
		run: (context, { email }) => enableUser(context, email, false),
	}),
	defineOperation({
		...one,
		name: 'user enable',
		summary: 'lets a disabled user and the keys of the user work again',
		method: 'POST',
		path: '/users/{email}/enable',
		output: userRecord,
		example,
		run: (context, { email }) => enableUser(context, email, true),
	}),
	defineOperation({
		...one,
		name: 'user reset-password',
		summary: 'sets a new password and shows it once',
		method: 'POST',
		path: '/users/{email}/reset-password',
		output: newPassword,
		example,
		run: (context, { email }) => resetPassword(context, email),
	}),
];
