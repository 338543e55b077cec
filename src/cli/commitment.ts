import { listCommitments, listCommitmentsInput } from '#administration/commitments.ts';
import { type Command, given, string, text } from './command.ts';

export const commitmentCommands: Command[] = [
	{
		name: 'commitment list',
		usage: '[--site <slug>] [--state waiting|reported|failed] [--limit n]',
		summary: 'lists the requests for storage commitment and their reports, newest first',
		positionals: [0, 0],
		options: { site: string, state: string, limit: string },
		run: (context, { options }) =>
			listCommitments(
				context,
				listCommitmentsInput.parse(given({ site: text(options, 'site'), state: text(options, 'state'), limit: text(options, 'limit') })),
			),
	},
];
