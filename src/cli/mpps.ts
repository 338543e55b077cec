import { listMpps, listMppsInput, showMpps } from '#administration/mpps.ts';
import { type Command, given, string, text } from './command.ts';

export const mppsCommands: Command[] = [
	{
		name: 'mpps list',
		usage:
			'[--site s] [--status in-progress|completed|discontinued] [--study uid] [--patient id] [--accession a] [--before id] [--limit n]',
		summary: 'lists the procedure steps that were reported, newest first',
		positionals: [0, 0],
		options: { site: string, status: string, study: string, patient: string, accession: string, before: string, limit: string },
		run: (context, { options }) =>
			listMpps(
				context,
				listMppsInput.parse(
					given({
						site: text(options, 'site'),
						status: text(options, 'status'),
						study: text(options, 'study'),
						patient: text(options, 'patient'),
						accession: text(options, 'accession'),
						before: text(options, 'before'),
						limit: text(options, 'limit'),
					}),
				),
			),
	},
	{
		name: 'mpps show',
		usage: '<session-id | sop-instance-uid> [--site s]',
		summary: 'shows a procedure step with its attributes and every report about it',
		positionals: [1, 1],
		options: { site: string },
		run: (context, { positionals, options }) => showMpps(context, positionals[0] ?? '', text(options, 'site')),
	},
];
