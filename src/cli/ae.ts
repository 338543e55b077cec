import { addRemoteAe, addRemoteAeInput, listRemoteAes, removeRemoteAe, removeRemoteAeInput } from '#administration/remote-aes.ts';
import { type Command, flag, given, required, string, text } from './command.ts';

export const remoteAeCommands: Command[] = [
	{
		name: 'ae add',
		usage: '--site <slug> --title <AE> --host <host> --port <port> [--tls]',
		summary: 'registers a DICOM application entity that this service may call for a site',
		positionals: [0, 0],
		options: { site: string, title: string, host: string, port: string, tls: flag },
		run: (context, { options }) =>
			addRemoteAe(
				context,
				addRemoteAeInput.parse({
					site: required(options, 'site'),
					title: required(options, 'title'),
					host: required(options, 'host'),
					port: required(options, 'port'),
					tls: options['tls'] === true,
				}),
			),
	},
	{
		name: 'ae list',
		usage: '[--site <slug>]',
		summary: 'lists the remote application entities',
		positionals: [0, 0],
		options: { site: string },
		run: (context, { options }) => listRemoteAes(context, text(options, 'site')),
	},
	{
		name: 'ae remove',
		usage: '<id | title> [--site <slug>]',
		summary: 'removes a remote application entity: it is called no more',
		positionals: [1, 1],
		options: { site: string },
		run: (context, { positionals, options }) =>
			removeRemoteAe(context, removeRemoteAeInput.parse(given({ ae: positionals[0], site: text(options, 'site') }))),
	},
];
