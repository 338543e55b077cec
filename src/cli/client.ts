import { addClient, addClientInput, listClients, removeClient, setClient, setClientInput, showClient } from '#administration/clients.ts';
import { type Command, given, items, type Options, required, string, strings, text } from './command.ts';

const settings = {
	name: string,
	protocol: strings,
	'allow-ip': strings,
	'sending-application': string,
	'sending-facility': string,
	'calling-ae': string,
	'ack-mode': string,
	also: strings,
	ignore: strings,
	allow: strings,
} as const;

const settingsUsage =
	'[--protocol hl7-mllp]... [--allow-ip <ip|cidr|*>]... [--sending-application A] [--sending-facility F] [--calling-ae AE] [--ack-mode enhanced|original] [--also A03,...] [--ignore A60,...] [--allow query]';

function inputOf(options: Options) {
	return given({
		name: text(options, 'name'),
		protocols: items(options, 'protocol'),
		allowed_ips: items(options, 'allow-ip'),
		sending_application: text(options, 'sending-application'),
		sending_facility: text(options, 'sending-facility'),
		calling_ae: text(options, 'calling-ae'),
		ack_mode: text(options, 'ack-mode'),
		also: items(options, 'also'),
		ignore: items(options, 'ignore'),
		grants: items(options, 'allow'),
	});
}

export const clientCommands: Command[] = [
	{
		name: 'client add',
		usage: `--site <slug> --name <text> ${settingsUsage}`,
		summary: 'adds an integration client: who may send to a site, and from where',
		positionals: [0, 0],
		options: { site: string, ...settings },
		run: (context, { options }) => addClient(context, addClientInput.parse({ site: required(options, 'site'), ...inputOf(options) })),
	},
	{
		name: 'client list',
		usage: '[--site <slug>]',
		summary: 'lists the integration clients',
		positionals: [0, 0],
		options: { site: string },
		run: (context, { options }) => listClients(context, text(options, 'site')),
	},
	{
		name: 'client show',
		usage: '<client-id>',
		summary: 'shows an integration client',
		positionals: [1, 1],
		options: {},
		run: (context, { positionals }) => showClient(context, positionals[0] ?? ''),
	},
	{
		name: 'client set',
		usage: `<client-id> [--name <text>] ${settingsUsage}`,
		summary: 'changes an integration client; an empty value removes',
		positionals: [1, 1],
		options: settings,
		run: (context, { positionals, options }) => setClient(context, setClientInput.parse({ id: positionals[0], ...inputOf(options) })),
	},
	{
		name: 'client disable',
		usage: '<client-id>',
		summary: 'refuses the client, on open connections too',
		positionals: [1, 1],
		options: {},
		run: (context, { positionals }) => setClient(context, { id: positionals[0] ?? '', active: false }),
	},
	{
		name: 'client remove',
		usage: '<client-id>',
		summary: 'removes an integration client',
		positionals: [1, 1],
		options: {},
		run: (context, { positionals }) => removeClient(context, positionals[0] ?? ''),
	},
];
