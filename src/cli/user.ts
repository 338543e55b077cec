import { addUser, addUserInput, disableUser, listUsers, resetPassword } from '#administration/users.ts';
import { type Command, flag, items, strings } from './command.ts';

export const userCommands: Command[] = [
	{
		name: 'user add',
		usage: '<email> [--admin] [--site <slug>]...',
		summary: 'adds a user',
		positionals: [1, 1],
		options: { admin: flag, site: strings },
		run: (context, { positionals, options }) =>
			addUser(
				context,
				addUserInput.parse({ email: positionals[0], admin: options['admin'] === true, sites: items(options, 'site') ?? [] }),
			),
	},
	{ name: 'user list', usage: '', summary: 'lists the users', positionals: [0, 0], options: {}, run: (context) => listUsers(context) },
	{
		name: 'user disable',
		usage: '<email>',
		summary: 'refuses the user and every key that the user owns',
		positionals: [1, 1],
		options: {},
		run: (context, { positionals }) => disableUser(context, positionals[0] ?? ''),
	},
	{
		name: 'user reset-password',
		usage: '<email>',
		summary: 'sets a new password and shows it once',
		positionals: [1, 1],
		options: {},
		run: (context, { positionals }) => resetPassword(context, positionals[0] ?? ''),
	},
];
