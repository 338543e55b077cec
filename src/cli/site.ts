import { addSite, addSiteInput, enableSite, listSites, setSite, setSiteInput, showSite } from '#administration/sites.ts';
import { type Command, given, onOff, required, string, text } from './command.ts';

const first = (positionals: readonly string[]) => positionals[0] ?? '';

export const siteCommands: Command[] = [
	{
		name: 'site add',
		usage: '<slug> --name <text> [--ae-title <AE>] [--default-authority <uri>]',
		summary: 'adds a site',
		positionals: [1, 1],
		options: { name: string, 'ae-title': string, 'default-authority': string },
		run: (context, { positionals, options }) =>
			addSite(
				context,
				addSiteInput.parse(
					given({
						slug: first(positionals),
						name: required(options, 'name'),
						ae_title: text(options, 'ae-title'),
						default_authority: text(options, 'default-authority'),
					}),
				),
			),
	},
	{ name: 'site list', usage: '', summary: 'lists the sites', positionals: [0, 0], options: {}, run: (context) => listSites(context) },
	{
		name: 'site show',
		usage: '<slug>',
		summary: 'shows a site',
		positionals: [1, 1],
		options: {},
		run: (context, { positionals }) => showSite(context, first(positionals)),
	},
	{
		name: 'site set',
		usage:
			'<slug> [--name <text>] [--ae-title <AE>] [--default-authority <uri>] [--update-creates on|off] [--check-references on|off] [--instance-policy keep|replace|refuse]',
		summary: 'changes a site; an empty value removes',
		positionals: [1, 1],
		options: {
			name: string,
			'ae-title': string,
			'default-authority': string,
			'update-creates': string,
			'check-references': string,
			'instance-policy': string,
		},
		run: (context, { positionals, options }) =>
			setSite(
				context,
				setSiteInput.parse(
					given({
						slug: first(positionals),
						name: text(options, 'name'),
						ae_title: text(options, 'ae-title'),
						default_authority: text(options, 'default-authority'),
						update_creates: onOff(options, 'update-creates'),
						check_references: onOff(options, 'check-references'),
						instance_policy: text(options, 'instance-policy'),
					}),
				),
			),
	},
	{
		name: 'site disable',
		usage: '<slug>',
		summary: 'refuses every key and client of the site; its data stays',
		positionals: [1, 1],
		options: {},
		run: (context, { positionals }) => enableSite(context, first(positionals), false),
	},
	{
		name: 'site enable',
		usage: '<slug>',
		summary: 'lets a disabled site work again',
		positionals: [1, 1],
		options: {},
		run: (context, { positionals }) => enableSite(context, first(positionals), true),
	},
];
