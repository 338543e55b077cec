import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { Validator } from '@seriousme/openapi-schema-validator';
import { type Actor, AdministrationError, type OperationContext } from '#administration/context.ts';
import type { FileContent } from '#administration/file-content.ts';
import { membersOf, pathMembers } from '#administration/members.ts';
import { exampleOf, operationsOpenApi } from '#administration/openapi.ts';
import { effectOf, type Operation } from '#administration/operation.ts';
import { fileOperations } from '#administration/operations/files.ts';
import { operations } from '#administration/operations/index.ts';
import { perform } from '#administration/perform.ts';
import { commands } from '#cli/operation-command.ts';
import { newId } from '#core/id.ts';
import { type Role, roles } from '#core/role.ts';
import { fillNorth } from '#test/support/administered-site.ts';
import { eventually, type FhirBody, testService } from '#test/support/service.ts';

const administrator: Actor = { name: 'admin@example.org', role: 'administrator', sites: 'all' };
const of = (role: Role, ...sites: string[]): Actor => ({ name: `${role}@example.org`, role, sites });
const includes = (role: Role, least: Role) => roles.indexOf(role) >= roles.indexOf(least);

interface Refusal {
	fault: string;
	message: string;
}

async function refusalOf(operation: Operation, context: OperationContext, input: unknown): Promise<Refusal | undefined> {
	try {
		await perform(operation, context, input);
		return undefined;
	} catch (error) {
		assert.equal((error as Error).name, 'AdministrationError', String((error as Error).stack));
		return error as unknown as Refusal;
	}
}

describe('every operation', () => {
	test('is done for who may, as its example says; for nobody else, and shows nothing foreign', async () => {
		await using service = await testService();
		await service.addSite('east');
		const ids = new Map<string, readonly string[]>();
		const idOf = (name: string, index = 0) => ids.get(name)?.[index] ?? assert.fail(`'${name}' answered no id`);
		const state = async () =>
			(
				await service.rows(`select (select count(*) from audit_event where actor <> 'sender') as events,
				(select version from access_version) as version, (select count(*) from message_log) as messages`)
			)[0];
		// What senders did is noted a little later.
		const recordOfNorth = () =>
			service.rows(`select (select count(*) from audit_event e where e.site_id = s.id and e.actor <> 'sender') as events,
				(select count(*) from message_log m where m.site_id = s.id) as messages,
				(select count(*) from api_key k where k.site_id = s.id) as keys,
				(select count(*) from integration_client c where c.site_id = s.id) as clients
				from site s where s.slug = 'north'`);
		const contextOf = (actor: Actor): OperationContext => ({ ...service.administration, actor, source: '192.0.2.7' });
		const untouched = async (operation: Operation, actor: Actor, input: unknown, fault: string) => {
			const before = await state();
			const refusal = await refusalOf(operation, contextOf(actor), input);
			assert.equal(refusal?.fault, fault, `${operation.name} as ${actor.role} of ${actor.sites}`);
			assert.deepEqual(await state(), before);
			return refusal;
		};
		for (const operation of operations) {
			const { name, scope, role, output } = operation;
			const input = exampleOf(operation, idOf);
			assert.ok(input, `${name} has no example`);
			for (const held of roles) {
				const foreign = of(held, 'east');
				if (!includes(held, role) || scope === 'network' || input['site'] === 'north')
					await untouched(operation, foreign, input, 'forbidden');
				else if (scope === 'object') {
					const refusal = await untouched(operation, foreign, input, 'not-found');
					const [member = ''] = pathMembers(operation.path);
					const absent: Record<string, unknown> = { ...input, [member]: newId() };
					const other = await untouched(operation, contextOf(administrator).actor, absent, 'not-found');
					const neutral = ({ message }: Refusal, id: unknown) => message.replace(String(id), '');
					assert.equal(neutral(refusal as Refusal, input[member]), neutral(other as Refusal, absent[member]), name);
				} else {
					const seen = JSON.stringify(await perform(operation, contextOf(foreign), input));
					for (const trace of ['north', 'radiology', ...[...ids.values()].flat()])
						assert.ok(!seen.includes(trace), `${name}: ${trace} in ${seen}`);
				}
				const own = of(held, 'north');
				if (!includes(held, role)) await untouched(operation, own, input, 'forbidden');
				else if (scope !== 'network' && effectOf(operation) === 'none') await perform(operation, contextOf(own), input);
			}
			// With the own site in its place, what is named beside it stays foreign.
			if (input['site'] === 'north' && scope !== 'network' && role !== 'administrator') {
				const mixed = contextOf(of('manager', 'east'));
				const north = await recordOfNorth();
				const answer = await perform(operation, mixed, { ...input, site: 'east' }).catch((error: unknown) => {
					assert.ok(error instanceof AdministrationError, `${name}: ${error}`);
					return error.fault === 'form' ? assert.fail(`${name}: ${error.message}`) : undefined;
				});
				for (const trace of ['north', 'radiology', ...[...ids.values()].flat()])
					assert.ok(!JSON.stringify(answer ?? null).includes(trace), `${name} in the own site: ${trace}`);
				assert.deepEqual(await recordOfNorth(), north, `${name} in the own site changes another`);
			}
			const before = await state();
			// The manager of east has given a client of its own these addresses.
			const confirmed = /^client (add|set)$/.test(name) ? { ...input, confirm_overlap: true } : input;
			const answer = await perform(operation, contextOf(administrator), confirmed);
			assert.deepEqual(output.parse(answer), answer, name);
			if (effectOf(operation) === 'none') assert.deepEqual(await state(), before, `${name} changes something`);
			else assert.notDeepEqual(await state(), before, `${name} leaves no trace`);
			const all = (Array.isArray(answer) ? answer : [answer]) as { id?: string; key?: string }[];
			const [first] = all;
			if (first?.id !== undefined)
				ids.set(
					name,
					all.flatMap(({ id }) => id ?? []),
				);
			if (name === 'replay start')
				await eventually(
					async () => (await service.rows("select from replay_run where state = 'running'")).length === 0,
					'the end of the replay',
				);
			if (name === 'key create') await fillNorth(service, String(first?.key));
		}
		const sources = await service.rows<{ source: string }>("select distinct source from audit_event where actor = 'admin@example.org'");
		assert.deepEqual(sources, [{ source: '192.0.2.7' }], 'every change says from where');
	});

	test('whoever reads the record of a person, or finds persons, is noted', () => {
		const noted = operations.filter((operation) => effectOf(operation) === 'noted').map(({ name }) => name);
		const ofOne = [
			'find id',
			'messages search-content',
			'patient show',
			'patient results',
			'patient timeline',
			'resource history',
			'study show',
			'study viewer',
			'messages show',
			'messages read',
			'messages content',
			'messages compare',
			'mpps show',
			'conflict show',
			'conflict image',
			'instance image',
			'instance tags',
			'report show',
			'unmatched show',
		];
		assert.deepEqual(noted.sort(), [...ofOne, 'patient search', 'identity preview', 'authority preview', 'study preview'].sort());
	});

	test('names the member at fault, one that there is none of included', async () => {
		await using service = await testService();
		const named = (name: string) => operations.find((operation) => operation.name === name) ?? assert.fail(name);
		const wrong: [string, object, string | undefined, RegExp][] = [
			['site add', { slug: 'West', name: 'W' }, 'slug', /^slug: a slug has/],
			['site add', { slug: 'west' }, 'name', /^name is required$/],
			['key list', { limit: 1 }, undefined, /limit/],
			[
				'client add',
				{ site: 'w', name: 'x', protocols: ['ftp'], allowed_ips: ['1.2.3.4'] },
				'protocols',
				/^protocols\.0 must be hl7-mllp or dicom/,
			],
			['messages list', { limit: 5000 }, 'limit', /^limit must be at most 1000$/],
		];
		for (const [name, input, field, message] of wrong) {
			await assert.rejects(perform(named(name), service.administration, input), { fault: 'form', field, message });
		}
	});
});

describe('the table of operations', () => {
	const all = [...operations, ...fileOperations];

	test('is the command line: every row is a command with the same members, and every command is a row', () => {
		const listed = commands.flatMap(({ forms }) => forms.map(({ operation }) => operation));
		assert.deepEqual(new Set(listed), new Set(all.filter(({ commandLine }) => commandLine !== 'none')));
		assert.equal(listed.length, new Set(listed).size);
		for (const { name, forms } of commands) {
			for (const { operation, commandLine, flag } of forms) {
				const members = membersOf(operation).map((member) => member.name);
				assert.deepEqual(Object.keys(operation.input.shape), members);
				for (const positional of commandLine.positionals ?? []) assert.ok(members.includes(positional), `${name}: ${positional}`);
				for (const [member, option] of Object.entries(commandLine.options ?? {})) {
					if (members.includes(member)) assert.ok(!members.includes(option), `${name}: --${option}`);
				}
				assert.equal(flag, commandLine.within?.flag);
			}
		}
	});

	test('has each name and each route once, and every object says whose it is', () => {
		const once = (texts: string[]) => assert.equal(new Set(texts).size, texts.length, texts.join(', '));
		once(all.map(({ name }) => name));
		once(all.map(({ method, path }) => `${method} ${path.replaceAll(/\{\w+\}/g, '{}')}`));
		for (const { name, scope, find, called, path, input, method } of all) {
			const members = Object.keys(input.shape);
			for (const member of pathMembers(path)) assert.ok(members.includes(member), `${name}: ${member}`);
			assert.equal(find !== undefined && called !== undefined, scope === 'object', name);
			if (scope === 'site') assert.ok(members.includes('site'), name);
			if (method === 'GET') for (const { kind } of membersOf({ input } as Operation)) assert.notEqual(kind, 'list', name);
		}
	});

	test('is described by a valid OpenAPI 3.1 document, route for route', async () => {
		const document = operationsOpenApi('1.2.3', 'https://admin.example.org') as FhirBody;
		const { valid, errors } = await new Validator().validate(structuredClone(document));
		assert.ok(valid, JSON.stringify(errors ?? '').slice(0, 2000));
		assert.deepEqual([document.openapi, document.servers], ['3.1.0', [{ url: 'https://admin.example.org' }]]);
		const described = Object.entries(document.paths as Record<string, object>).flatMap(([path, item]) =>
			Object.keys(item).map((method) => `${method.toUpperCase()} ${path}`),
		);
		assert.deepEqual(described.sort(), all.map(({ method, path }) => `${method} /api/v1${path}`).sort());
		for (const operation of all) {
			const { parameters, requestBody } = document.paths[`/api/v1${operation.path}`][operation.method.toLowerCase()];
			const body = requestBody?.content['application/json'];
			const members = [...parameters.map(({ name }: FhirBody) => name), ...Object.keys(body?.schema.properties ?? {})];
			assert.deepEqual(members.sort(), Object.keys(operation.input.shape).sort(), operation.name);
			const given = { ...body?.example };
			for (const { name, example } of parameters) if (example !== undefined) given[name] = example;
			assert.deepEqual(
				given,
				exampleOf(operation, () => '0199c0de-0000-7000-8000-000000000001'),
				operation.name,
			);
		}
	});
});

describe('every operation that gives a file', () => {
	test('is done for who may, and for nobody else', async () => {
		await using service = await testService();
		const { key } = await service.addSite('north');
		await service.addSite('east');
		await fillNorth(service, key);
		const contextOf = (actor: Actor): OperationContext => ({ ...service.administration, actor, source: '192.0.2.7' });
		const [conflict] = (await service.rows<{ id: string }>('select id from imaging_conflict')) as [{ id: string }];
		for (const operation of fileOperations) {
			const input = { ...exampleOf(operation, () => conflict.id) };
			const foreign = await refusalOf(operation, contextOf(of('manager', 'east')), input);
			assert.equal(foreign?.fault, operation.scope === 'object' ? 'not-found' : 'forbidden', operation.name);
			if (operation.scope === 'site') {
				const refusal = await refusalOf(operation, contextOf(of('manager', 'east')), { ...input, site: 'east' });
				assert.equal(refusal?.fault, 'not-found', operation.name);
			}
			// The frames of these images cannot be told apart, because they do not state their bits.
			if (operation.name.endsWith(' frame')) continue;
			const { name, bytes } = (await perform(operation, contextOf(of('auditor', 'north')), input)) as FileContent;
			assert.match(name, /^[\w.-]+$/);
			let length = 0;
			for await (const piece of bytes) length += piece.length;
			assert.ok(length > 100, operation.name);
		}
		const events = await service.rows("select action from audit_event where actor = 'auditor@example.org' order by id");
		assert.deepEqual(events, [{ action: 'study.download' }, { action: 'instance.download' }]);
	});
});
