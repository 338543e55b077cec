import { z } from 'zod';
import type { OperationContext } from '../context.ts';
import { defineOperation } from '../operation.ts';
import { rederivationRecord, rederiveInputs, setAndRederive } from '../rederivations.ts';
import { settingPlaceholders } from '../settings.ts';
import { addSite, addSiteInput, enableSite, listSites, setSite, setSiteInput, shownSite, showSite, siteRecord } from '../sites.ts';
import { foundOrNull } from '../visible-sites.ts';

const named = z.strictObject({ slug: z.string() });
const values = { name: 'text', ae_title: 'AE', waiting_max: 'n', associations_max: 'n', ...settingPlaceholders('site') };
const object = {
	scope: 'object',
	called: 'site',
	find: (context: OperationContext, { slug }: { slug: string }) =>
		foundOrNull(showSite(context, slug).then((record) => ({ site: record.slug, record }))),
} as const;

export const siteOperations = [
	defineOperation({
		name: 'site add',
		summary: 'adds a site',
		method: 'POST',
		path: '/sites',
		role: 'administrator',
		scope: 'network',
		input: addSiteInput,
		output: shownSite,
		commandLine: { positionals: ['slug'], values },
		example: { slug: 'north', name: 'North Imaging', ae_title: 'NORTH', default_authority: 'urn:oid:2.999.1' },
		run: addSite,
	}),
	defineOperation({
		name: 'site list',
		summary: 'lists the sites',
		method: 'GET',
		path: '/sites',
		role: 'auditor',
		scope: 'sites',
		input: z.strictObject({}),
		output: z.array(siteRecord),
		commandLine: {},
		example: {},
		run: listSites,
	}),
	defineOperation({
		...object,
		name: 'site show',
		summary: 'shows a site',
		method: 'GET',
		path: '/sites/{slug}',
		role: 'auditor',
		input: named,
		output: shownSite,
		commandLine: { positionals: ['slug'] },
		example: { slug: 'north' },
		run: async (_context, _input, { record }) => record,
	}),
	defineOperation({
		...object,
		name: 'site set',
		summary: 'changes a site; an empty value removes a setting',
		method: 'PATCH',
		path: '/sites/{slug}',
		role: 'manager',
		input: setSiteInput.extend(rederiveInputs),
		output: shownSite.extend(rederivationRecord),
		commandLine: { positionals: ['slug'], values },
		example: {
			slug: 'north',
			name: 'North Imaging Centre',
			update_creates: false,
			associations_max: 20,
			viewer_url: 'https://viewer.example.org/viewer?StudyInstanceUIDs={study}&token={token}',
		},
		run: (context, { rederive, preview, ...input }) =>
			setAndRederive(
				context,
				{ rederive, preview },
				{
					...{ of: 'site', subject: input.slug, site: input.slug, timeZone: input.time_zone },
					set: () => setSite(context, input),
					show: () => showSite(context, input.slug),
				},
			),
	}),
	defineOperation({
		...object,
		name: 'site disable',
		summary: 'disables a site: its keys and clients are refused, its data is kept',
		method: 'POST',
		path: '/sites/{slug}/disable',
		role: 'administrator',
		input: named,
		output: siteRecord,
		commandLine: { positionals: ['slug'] },
		example: { slug: 'north' },
		run: (context, { slug }) => enableSite(context, slug, false),
	}),
	defineOperation({
		...object,
		name: 'site enable',
		summary: 'enables a disabled site',
		method: 'POST',
		path: '/sites/{slug}/enable',
		role: 'administrator',
		input: named,
		output: siteRecord,
		commandLine: { positionals: ['slug'] },
		example: { slug: 'north' },
		run: (context, { slug }) => enableSite(context, slug, true),
	}),
];
