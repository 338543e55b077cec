import { z } from 'zod';
import type { OperationContext } from '../context.ts';
import {
	createdKey,
	createKey,
	createKeyInput,
	keyRecord,
	listKeys,
	revokeKey,
	rotatedKey,
	rotateKey,
	rotateKeyInput,
	setKey,
	setKeyInput,
	showKey,
	shownKey,
} from '../keys.ts';
import { defineOperation } from '../operation.ts';
import { rederivationRecord, rederiveInputs, setAndRederive } from '../rederivations.ts';
import { ofSite } from '../schemas.ts';
import { settingPlaceholders } from '../settings.ts';
import { foundOrNull } from '../visible-sites.ts';

const options = { scopes: 'scope' };
const lifetime = { expires: 'date|instant|time', scopes: 'scope' };

const one = {
	scope: 'object',
	called: 'key',
	find: (context: OperationContext, { id }: { id: string }) => foundOrNull(showKey(context, id)),
	input: z.strictObject({ id: z.string() }),
	output: keyRecord,
	commandLine: { positionals: ['id'], values: { id: 'key-id' } },
} as const;

export const keyOperations = [
	defineOperation({
		name: 'key create',
		summary: 'creates an API key for a site; the key is shown only once',
		method: 'POST',
		path: '/keys',
		role: 'manager',
		scope: 'site',
		input: createKeyInput,
		output: createdKey,
		commandLine: { options, values: { site: 'slug', owner: 'email', label: 'text', ...lifetime, ...settingPlaceholders('key') } },
		example: { site: 'north', owner: 'radiology@example.org', label: 'viewer', expires: '365d' },
		run: createKey,
	}),
	defineOperation({
		name: 'key list',
		summary: 'lists the API keys, newest first',
		method: 'GET',
		path: '/keys',
		role: 'auditor',
		scope: 'sites',
		input: z.strictObject(ofSite),
		output: z.array(keyRecord),
		commandLine: { values: { site: 'slug' } },
		example: { site: 'north' },
		run: listKeys,
	}),
	defineOperation({
		...one,
		name: 'key show',
		output: shownKey,
		summary: 'shows an API key without its secret',
		method: 'GET',
		path: '/keys/{id}',
		role: 'auditor',
		example: (idOf) => ({ id: idOf('key create') }),
		run: async (_context, _input, found) => found,
	}),
	defineOperation({
		...one,
		name: 'key set',
		output: shownKey.extend(rederivationRecord),
		summary: 'changes the label, the end, the scopes and the settings of an API key; an empty value removes what is optional',
		method: 'PATCH',
		path: '/keys/{id}',
		role: 'manager',
		input: setKeyInput.extend(rederiveInputs),
		commandLine: { positionals: ['id'], options, values: { id: 'key-id', label: 'text', ...lifetime, ...settingPlaceholders('key') } },
		example: (idOf) => ({ id: idOf('key create'), also: ['A03'] }),
		run: (context, { rederive, preview, ...input }, { site }) =>
			setAndRederive(
				context,
				{ rederive, preview },
				{
					...{ of: 'key', subject: input.id, site, timeZone: input.time_zone },
					set: () => setKey(context, input),
					show: () => showKey(context, input.id),
				},
			),
	}),
	defineOperation({
		...one,
		name: 'key rotate',
		summary: 'creates the successor of an API key; the old key stays valid for the overlap, a week by default',
		method: 'POST',
		path: '/keys/{id}/rotate',
		role: 'manager',
		input: rotateKeyInput,
		output: rotatedKey,
		commandLine: { positionals: ['id'], values: { id: 'key-id', overlap: 'time', expires: lifetime.expires } },
		example: (idOf) => ({ id: idOf('key create'), overlap: '7d' }),
		run: rotateKey,
	}),
	defineOperation({
		...one,
		name: 'key revoke',
		summary: 'revokes an API key; every node refuses it within a second',
		method: 'POST',
		path: '/keys/{id}/revoke',
		role: 'manager',
		example: (idOf) => ({ id: idOf('key create') }),
		run: (context, { id }) => revokeKey(context, id),
	}),
];
