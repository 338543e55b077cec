import assert from 'node:assert/strict';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { after, before, describe, type TestContext, test } from 'node:test';
import { pathMembers } from '#administration/members.ts';
import type { Operation } from '#administration/operation.ts';
import { operations } from '#administration/operations/index.ts';
import { resetPassword } from '#administration/users.ts';
import { runCli } from '#cli/run.ts';
import { socketFolder } from '#storage/socket-folder.ts';
import { adt } from '#test/support/adt.ts';
import { MllpClient, msa } from '#test/support/mllp-client.ts';
import { type TestService, testService } from '#test/support/service.ts';
import { owner, signedIn } from '#test/surfaces/admin/client.ts';
import { associate, associateRequest, connect, statusOf } from '#test/surfaces/dimse/peer.ts';
import { ask, oneStudy, questionContexts } from '#test/surfaces/dimse/questions.ts';
import { readConfig } from '../../src/config.ts';
import { remoteEcho, remoteSend } from '../../src/echo.ts';
import { processInPlace } from '../../src/ingest-in-place.ts';

type Input = Record<string, string | number | boolean | readonly string[]>;
type Result = ReturnType<typeof JSON.parse>;

/** Carries out an operation by its name, and answers its result. */
type Administer = (name: string, input: Input) => Promise<Result>;

function operationOf(name: string): Operation {
	const operation = operations.find((each) => each.name === name);
	assert.ok(operation, name);
	return operation;
}

function argumentsOf({ name, commandLine }: Operation, input: Input): string[] {
	assert.ok(commandLine !== 'none');
	const { positionals = [], options = {} } = commandLine;
	const named = Object.entries(input).filter(([member]) => !positionals.includes(member));
	const texts = named.flatMap(([member, given]) => {
		const option = `--${options[member] ?? member.replaceAll('_', '-')}`;
		return [given].flat().flatMap((each) => (each === true ? [option] : [option, String(each)]));
	});
	return [...name.split(' '), ...positionals.map((member) => String(input[member])), ...texts];
}

async function commandLine(service: TestService, argv: readonly string[], environment: Record<string, string> = {}) {
	const written = { out: '', err: '' };
	const stdout = { write: (text: string) => (written.out += text) };
	const stderr = { write: (text: string) => (written.err += text) };
	const place = { DATABASE_URL: service.databaseUrl, DATA_DIR: service.dataDir };
	const code = await runCli(
		argv,
		{ stdout, stderr },
		{
			start: () => Promise.resolve(0),
			processDelivery: processInPlace,
			openIngest: () => Promise.reject(new Error('nothing is imported')),
			remoteEcho,
			remoteSend,
			readConfig: () => readConfig({ ...place, ...environment }),
			version: '1',
		},
	);
	return { code, ...written };
}

const ways: Record<string, (service: TestService) => Promise<Administer>> = {
	'the command line': async (service) => async (name, input) => {
		const { code, out, err } = await commandLine(service, [...argumentsOf(operationOf(name), input), '--json']);
		assert.deepEqual([code, err], [0, ''], name);
		return JSON.parse(out);
	},
	'the admin API': async (service) => {
		const { password } = await resetPassword(service.administration, owner);
		const client = await signedIn(service, owner, password);
		return async (name, input) => {
			const { method, path } = operationOf(name);
			const inPath = pathMembers(path);
			const url = path.replace(/\{(\w+)\}/g, (_all, member: string) => encodeURIComponent(String(input[member])));
			const others = Object.fromEntries(Object.entries(input).filter(([member]) => !inPath.includes(member)));
			const isQuery = method === 'GET' || method === 'DELETE';
			const query = isQuery && Object.keys(others).length > 0 ? `?${new URLSearchParams(others as Record<string, string>)}` : '';
			const answer = await client.call(`/api/v1${url}${query}`, { method, ...(isQuery ? {} : { body: others }) });
			assert.equal(answer.status, 200, `${name}: ${JSON.stringify(answer.body)}`);
			assert.equal(answer.headers.get('warning'), null);
			return answer.body;
		};
	},
};

async function statusWith(service: TestService, key: string): Promise<number> {
	return (await service.fhir('/fhir/metadata', key)).status;
}

/** What a message over MLLP is answered: MSA-1, or that the connection was closed. */
async function answerOf(client: MllpClient, controlId: string): Promise<string> {
	return client.send(adt(controlId, 'A', 1)).then(
		(ack) => msa(ack).code,
		() => 'closed',
	);
}

/** `accepted`, or result, source and reason of the rejection (PS3.8 §9.3.4). */
async function associationTo(t: TestContext, service: TestService, called: string): Promise<string> {
	const peer = await connect(t, service.port('dimse'));
	const [answer] = await peer.ask(associateRequest({ called }));
	peer.socket.destroy();
	return answer?.type === 2 ? 'accepted' : [...(answer?.body.subarray(1, 4) ?? [])].join(' ');
}

/** A process of the node that takes connections and never confirms anything. */
async function silentProcess(t: TestContext, service: TestService): Promise<void> {
	const server = createServer((socket) => socket.on('error', () => undefined).resume());
	await new Promise<void>((resolve) => server.listen(join(socketFolder(service.dataDir, 'processes'), '4711-silent'), resolve));
	t.after(() => server.close());
}

for (const [way, open] of Object.entries(ways)) {
	describe(`a change by ${way} is in force when it returns`, () => {
		let service: TestService;
		let administer: Administer;

		before(async () => {
			service = await testService();
			administer = await open(service);
		});
		after(() => service[Symbol.asyncDispose]());

		test('a key, its owner and its site', async () => {
			await administer('site add', { slug: 'north', name: 'North' });
			await administer('user add', { email: 'ann@example.org', sites: ['north'] });
			const create = () => administer('key create', { site: 'north', owner: 'ann@example.org', label: 'viewer' });
			const first = await create();
			assert.equal(await statusWith(service, first.key), 200);
			await administer('key revoke', { id: first.id });
			assert.equal(await statusWith(service, first.key), 401);
			const second = await create();
			for (const [noun, subject] of [
				['user', { email: 'ann@example.org' }],
				['site', { slug: 'north' }],
			] as const) {
				await administer(`${noun} disable`, subject);
				assert.equal(await statusWith(service, second.key), 401);
				await administer(`${noun} enable`, subject);
				assert.equal(await statusWith(service, second.key), 200);
			}
		});

		test('an integration client, on an open MLLP connection too', async () => {
			await administer('site add', { slug: 'south', name: 'South' });
			const stranger = await MllpClient.connect(service.port('mllp'));
			assert.equal(await answerOf(stranger, '0'), 'closed');
			const sender = { site: 'south', name: 'sender', protocols: ['hl7-mllp'], allowed_ips: ['127.0.0.1'] };
			const { id } = await administer('client add', sender);
			const client = await MllpClient.connect(service.port('mllp'));
			assert.equal(await answerOf(client, '1'), 'AA');
			await administer('client set', { id, sending_application: 'OTHER' });
			assert.equal(await answerOf(client, '2'), 'AE');
			await administer('client set', { id, sending_application: '' });
			assert.equal(await answerOf(client, '3'), 'AA');
			await administer('client disable', { id });
			assert.equal(await answerOf(client, '4'), 'closed');
			await administer('client remove', { id });
		});

		test('AE titles, remote AEs, grants and settings of a site, on an open association too', async (t) => {
			await administer('site add', { slug: 'west', name: 'West' });
			assert.equal(await associationTo(t, service, 'WEST'), '1 1 7');
			await administer('site set', { slug: 'west', ae_title: 'WEST' });
			assert.equal(await associationTo(t, service, 'WEST'), 'accepted');
			const pacs = { site: 'west', name: 'PACS', protocols: ['dicom'], allowed_ips: ['127.0.0.1'], grants: ['query'] };
			const { id } = await administer('client add', pacs);
			const peer = await associate(t, service.port('dimse'), { contexts: questionContexts });
			const moveTo = async (title: string) => {
				peer.write(ask(3, oneStudy, title));
				return statusOf(await peer.next());
			};
			assert.equal(await moveTo('REMOTE'), 0xa801);
			const remote = await administer('ae add', { site: 'west', title: 'REMOTE', host: '127.0.0.1', port: 104 });
			assert.equal(await moveTo('REMOTE'), 0);
			await administer('ae remove', { ae: remote.id });
			assert.equal(await moveTo('REMOTE'), 0xa801);
			await administer('site set', { slug: 'west', associations_max: 1 });
			assert.equal(await associationTo(t, service, 'WEST'), '2 3 2');
			await administer('client set', { id, calling_ae: 'OTHER' });
			peer.write(ask(3, oneStudy, 'REMOTE'));
			assert.equal((await peer.next()).type, 7, 'A-ABORT');
		});

		test('a session of a user who is disabled', async () => {
			await administer('user add', { email: 'eve@example.org', role: 'administrator' });
			const { password } = await administer('user reset-password', { email: 'eve@example.org' });
			const eve = await signedIn(service, 'eve@example.org', password);
			assert.equal((await eve.call('/api/v1/session')).status, 200);
			await administer('user disable', { email: 'eve@example.org' });
			assert.equal((await eve.call('/api/v1/session')).status, 401);
		});
	});
}

test('a process of the node that does not confirm a change is named, and the change is made', async (t) => {
	const limit = { ACCESS_CONFIRM_MS_MAX: '1500' };
	await using service = await testService(limit);
	const { key } = await service.addSite('north');
	const { password } = await resetPassword(service.administration, owner);
	const client = await signedIn(service, owner, password);
	await silentProcess(t, service);
	const [{ id = '' } = {}] = await service.rows<{ id: string }>('select id from api_key');
	const { code, out, err } = await commandLine(service, ['key', 'revoke', id, '--json'], limit);
	assert.equal(code, 0);
	assert.equal(JSON.parse(out).id, id);
	assert.match(err, /the change is made, but process 4711 did not confirm it within 1\.5 s/);
	assert.equal(await statusWith(service, key), 401);

	const answer = await client.call('/api/v1/sites', { method: 'POST', body: { slug: 'south', name: 'South' } });
	assert.equal(answer.status, 200);
	assert.equal(answer.headers.get('warning'), '199 tributary "the change is made; not confirmed yet by process 4711"');
	assert.equal((await client.call('/api/v1/sites')).headers.get('warning'), null);
});
