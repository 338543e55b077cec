import { z } from 'zod';
import { clientMatch, matchClient, matchClientInput } from '../client-match.ts';
import {
	addClient,
	addClientInput,
	clientRecord,
	listClients,
	removeClient,
	setClient,
	setClientInput,
	showClient,
	shownClient,
} from '../clients.ts';
import type { OperationContext } from '../context.ts';
import { defineOperation } from '../operation.ts';
import { rederivationRecord, rederiveInputs, setAndRederive } from '../rederivations.ts';
import { ofSite } from '../schemas.ts';
import { settingPlaceholders } from '../settings.ts';
import { foundOrNull } from '../visible-sites.ts';

const options = { protocols: 'protocol', allowed_ips: 'allow-ip', grants: 'allow' };
const values = {
	site: 'slug',
	id: 'client-id',
	name: 'text',
	allowed_ips: 'ip|cidr|*',
	sending_application: 'MSH-3',
	sending_facility: 'MSH-4',
	calling_ae: 'AE',
	...settingPlaceholders('client'),
};
const object = {
	scope: 'object',
	called: 'integration client',
	find: (context: OperationContext, { id }: { id: string }) => foundOrNull(showClient(context, id)),
	output: clientRecord,
} as const;
const one = { ...object, input: z.strictObject({ id: z.string() }), commandLine: { positionals: ['id'], values } } as const;

export const clientOperations = [
	defineOperation({
		name: 'client add',
		summary: 'adds an integration client: a system that may send to a site, and its addresses',
		method: 'POST',
		path: '/clients',
		role: 'manager',
		scope: 'site',
		input: addClientInput,
		output: shownClient,
		commandLine: { options, values },
		example: {
			site: 'north',
			name: 'Admission',
			protocols: ['hl7-mllp'],
			allowed_ips: ['192.0.2.10', '198.51.100.0/24'],
			sending_application: 'ADT',
			also: ['A03'],
		},
		run: addClient,
	}),
	defineOperation({
		name: 'client list',
		summary: 'lists the integration clients, newest first',
		method: 'GET',
		path: '/clients',
		role: 'auditor',
		scope: 'sites',
		input: z.strictObject(ofSite),
		output: z.array(clientRecord),
		commandLine: { values },
		example: { site: 'north' },
		run: listClients,
	}),
	defineOperation({
		name: 'client match',
		summary: 'shows which client and site a sender matches, or why none matches',
		method: 'POST',
		path: '/clients/match',
		role: 'auditor',
		effect: 'none',
		scope: 'sites',
		input: matchClientInput,
		output: clientMatch,
		commandLine: { values: { ...values, address: 'ip', called_ae: 'AE' } },
		example: { address: '198.51.100.7', sending_application: 'ADT', sending_facility: 'NORTH' },
		run: matchClient,
	}),
	defineOperation({
		...one,
		name: 'client show',
		output: shownClient,
		summary: 'shows an integration client',
		method: 'GET',
		path: '/clients/{id}',
		role: 'auditor',
		example: (idOf) => ({ id: idOf('client add') }),
		run: async (_context, _input, found) => found,
	}),
	defineOperation({
		...object,
		name: 'client set',
		output: shownClient.extend(rederivationRecord),
		summary: 'changes an integration client; an empty value removes a setting',
		method: 'PATCH',
		path: '/clients/{id}',
		role: 'manager',
		input: setClientInput.extend(rederiveInputs),
		commandLine: { positionals: ['id'], options, values },
		example: (idOf) => ({ id: idOf('client add'), sending_facility: 'NORTH', also: ['A03', 'A11'] }),
		run: (context, { rederive, preview, ...input }, { site }) =>
			setAndRederive(
				context,
				{ rederive, preview },
				{
					...{ of: 'client', subject: input.id, site, timeZone: input.time_zone },
					set: () => setClient(context, input),
					show: () => showClient(context, input.id),
				},
			),
	}),
	defineOperation({
		...one,
		name: 'client disable',
		output: shownClient,
		summary: 'disables a client; its open connections are refused too',
		method: 'POST',
		path: '/clients/{id}/disable',
		role: 'manager',
		example: (idOf) => ({ id: idOf('client add') }),
		run: (context, { id }) => setClient(context, { id, active: false }),
	}),
	defineOperation({
		...one,
		name: 'client enable',
		output: shownClient,
		summary: 'lets a disabled client send again',
		method: 'POST',
		path: '/clients/{id}/enable',
		role: 'manager',
		example: (idOf) => ({ id: idOf('client add') }),
		run: (context, { id }) => setClient(context, { id, active: true }),
	}),
	defineOperation({
		...one,
		name: 'client remove',
		summary: 'removes an integration client',
		method: 'DELETE',
		path: '/clients/{id}',
		role: 'manager',
		example: (idOf) => ({ id: idOf('client add') }),
		run: (context, { id }) => removeClient(context, id),
	}),
];
