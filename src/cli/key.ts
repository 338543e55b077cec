import { createKey, createKeyInput, listKeys, revokeKey } from '#administration/keys.ts';
import { type Command, given, required, string, text } from './command.ts';

export const keyCommands: Command[] = [
	{
		name: 'key create',
		usage: '--site <slug> --owner <email> [--label <text>]',
		summary: 'creates an API key of a site and shows it, this once',
		positionals: [0, 0],
		options: { site: string, owner: string, label: string },
		run: (context, { options }) =>
			createKey(
				context,
				createKeyInput.parse(given({ site: required(options, 'site'), owner: required(options, 'owner'), label: text(options, 'label') })),
			),
	},
	{
		name: 'key list',
		usage: '[--site <slug>]',
		summary: 'lists the API keys',
		positionals: [0, 0],
		options: { site: string },
		run: (context, { options }) => listKeys(context, text(options, 'site')),
	},
	{
		name: 'key revoke',
		usage: '<key-id>',
		summary: 'revokes a key, on every node within a second',
		positionals: [1, 1],
		options: {},
		run: (context, { positionals }) => revokeKey(context, positionals[0] ?? ''),
	},
];
