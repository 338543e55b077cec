import {
	isReplayable,
	listLoggedMessages,
	listMessagesInput,
	listUnmatchedMessages,
	replayMessages,
	showLoggedMessage,
} from '#administration/messages.ts';
import { type Command, flag, given, string, text, UsageError } from './command.ts';

const filters = {
	site: string,
	outcome: string,
	type: string,
	'control-id': string,
	since: string,
	until: string,
	before: string,
	limit: string,
} as const;

export const messageCommands: Command[] = [
	{
		name: 'messages list',
		usage:
			'[--site s] [--outcome accepted|refused|ignored|duplicate] [--type ADT^A08] [--control-id c] [--since t] [--until t] [--before id] [--limit n] [--unmatched]',
		summary: 'lists the message log, newest first',
		positionals: [0, 0],
		options: { ...filters, unmatched: flag },
		run: (context, { options }) => {
			const input = listMessagesInput.parse(
				given({
					site: text(options, 'site'),
					outcome: text(options, 'outcome'),
					type: text(options, 'type'),
					control_id: text(options, 'control-id'),
					since: text(options, 'since'),
					until: text(options, 'until'),
					before: text(options, 'before'),
					limit: text(options, 'limit'),
				}),
			);
			return options['unmatched'] === true ? listUnmatchedMessages(context, input.before, input.limit) : listLoggedMessages(context, input);
		},
	},
	{
		name: 'messages show',
		usage: '<message-id>',
		summary: 'shows a message, its acknowledgement and what it changed',
		positionals: [1, 1],
		options: {},
		run: (context, { positionals }) => showLoggedMessage(context, positionals[0] ?? ''),
	},
	{
		name: 'messages replay',
		usage: '<message-id>... | --refused --site <slug>',
		summary: 'takes logged messages again, in the order given, or all that a site refused, oldest first',
		positionals: [0, 1000],
		options: { refused: flag, site: string },
		run: async (context, { positionals, options }) => {
			const site = text(options, 'site');
			if (options['refused'] !== true) {
				if (positionals.length === 0) throw new UsageError('name a message, or --refused --site <slug>');
				return replayMessages(context, positionals);
			}
			if (site === undefined || positionals.length > 0) throw new UsageError('--refused goes with --site and without message ids');
			const refused = await listLoggedMessages(context, { site, outcome: 'refused', limit: 1000 });
			const replayable = refused.filter(isReplayable).map(({ id }) => id);
			return replayMessages(context, replayable.reverse());
		},
	},
];
