import { listConflicts, listConflictsInput, settleConflict, settleConflictInput, showConflict } from '#administration/conflicts.ts';
import { type Command, flag, given, required, string, text } from './command.ts';

export const conflictCommands: Command[] = [
	{
		name: 'conflict list',
		usage: '[--site s] [--all] [--before id] [--limit n]',
		summary: 'lists other content under known SOP Instance UIDs that waits for a decision, newest first; with --all what is settled too',
		positionals: [0, 0],
		options: { site: string, all: flag, before: string, limit: string },
		run: (context, { options }) =>
			listConflicts(
				context,
				listConflictsInput.parse(
					given({
						site: text(options, 'site'),
						all: options['all'] === true,
						before: text(options, 'before'),
						limit: text(options, 'limit'),
					}),
				),
			),
	},
	{
		name: 'conflict show',
		usage: '<conflict-id>',
		summary: 'shows what is stored and what was received, and where they differ',
		positionals: [1, 1],
		options: {},
		run: (context, { positionals }) => showConflict(context, positionals[0] ?? ''),
	},
	{
		name: 'conflict settle',
		usage: '<conflict-id> --keep stored|received',
		summary: 'keeps what is stored, or puts what was received in its place; the other object stays aside',
		positionals: [1, 1],
		options: { keep: string },
		run: (context, { positionals, options }) =>
			settleConflict(context, settleConflictInput.parse({ id: positionals[0], keep: required(options, 'keep') })),
	},
];
