import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { pathMembers } from '#administration/members.ts';
import { exampleOf } from '#administration/openapi.ts';
import { effectOf, type Operation } from '#administration/operation.ts';
import { operations } from '#administration/operations/index.ts';
import { addUser, resetPassword, setUser } from '#administration/users.ts';
import { type Role, roles } from '#core/role.ts';
import { fillNorth } from '#test/support/administered-site.ts';
import { eventually, type TestService, testService } from '#test/support/service.ts';
import { type AdminClient, adminClient, signedIn } from './client.ts';

const owner = 'owner@example.org';
const includes = (role: Role, least: Role) => roles.indexOf(role) >= roles.indexOf(least);

/** The request that the input of an operation makes. */
function call(client: AdminClient, { method, path }: Operation, input: Record<string, unknown>) {
	const inPath = new Set(pathMembers(path));
	const others = Object.entries(input).filter(([member]) => !inPath.has(member));
	const target = `/api/v1${path.replace(/\{(\w+)\}/g, (_, member: string) => encodeURIComponent(String(input[member])))}`;
	if (method !== 'GET' && method !== 'DELETE') return client.call(target, { method, body: Object.fromEntries(others) });
	const query = new URLSearchParams(others.map(([member, value]): [string, string] => [member, String(value)]));
	return client.call(query.size > 0 ? `${target}?${query}` : target, { method });
}

async function asRole(service: TestService, role: Role, site: string): Promise<AdminClient> {
	const email = `${role}@${site}.example.org`;
	await addUser(service.administration, { email, role, sites: [site] });
	return signedIn(service, email, (await resetPassword(service.administration, email)).password);
}

async function administrator(service: TestService): Promise<AdminClient> {
	return signedIn(service, owner, (await resetPassword(service.administration, owner)).password);
}

describe('every operation over HTTP', () => {
	test('is done for who may, refused for everybody else, and shows nothing foreign', async () => {
		await using service = await testService();
		await service.addSite('east');
		await service.addSite('west');
		const admin = await administrator(service);
		const nobody = adminClient(service);
		const emptied = await asRole(service, 'auditor', 'west');
		await setUser(service.administration, { email: 'auditor@west.example.org', sites: [] });
		const others: [Role, AdminClient][] = [
			['auditor', await asRole(service, 'auditor', 'east')],
			['manager', await asRole(service, 'manager', 'east')],
			['auditor', emptied],
		];
		const ids = new Map<string, readonly string[]>();
		const idOf = (name: string, index = 0) => ids.get(name)?.[index] ?? assert.fail(`'${name}' answered no id`);
		const changes = async () =>
			(await service.rows("select count(*)::int as n from audit_event where action not like 'user.sign-%' and actor <> 'sender'"))[0];
		for (const operation of operations) {
			const { name, scope, method, role, output } = operation;
			const input = exampleOf(operation, idOf) ?? assert.fail(`${name} has no example`);
			const before = await changes();
			assert.equal((await call(nobody, operation, input)).status, 401, name);
			const token = admin.csrfToken;
			if (method !== 'GET') {
				admin.csrfToken = '';
				assert.equal((await call(admin, operation, input)).status, 403, name);
				admin.csrfToken = token;
			}
			let isDoneByOthers = false;
			for (const [held, client] of others) {
				const { status, body } = await call(client, operation, input);
				const isRefused = !includes(held, role) || scope === 'network' || input['site'] === 'north';
				assert.equal(status, isRefused ? 403 : scope === 'object' ? 404 : 200, `${name} as ${held}: ${JSON.stringify(body)}`);
				// Whoever may see the console may keep filters of their own.
				isDoneByOthers ||= status === 200 && effectOf(operation) !== 'none';
				if (status !== 200) assert.equal(typeof body.error, 'string');
				else
					for (const trace of ['north', 'radiology', ...[...ids.values()].flat()])
						assert.ok(!JSON.stringify(body).includes(trace), `${name}: ${trace}`);
			}
			if (!isDoneByOthers) assert.deepEqual(await changes(), before, `${name} was refused and did something`);
			const { status, body, headers } = await call(admin, operation, input);
			assert.equal(status, 200, `${name}: ${JSON.stringify(body)}`);
			assert.equal(headers.get('cache-control'), 'no-store');
			assert.deepEqual(output.parse(body), body, name);
			const all = Array.isArray(body) ? body : [body];
			const [first] = all;
			if (first?.id !== undefined)
				ids.set(
					name,
					all.map(({ id }) => id),
				);
			if (name === 'replay start')
				await eventually(
					async () => (await service.rows("select from replay_run where state = 'running'")).length === 0,
					'the end of the replay',
				);
			if (name === 'key create') await fillNorth(service, first.key);
		}
	});

	test('takes its input from the path, the query and the body, and names the member at fault', async () => {
		await using service = await testService();
		await service.addSite('north');
		const admin = await administrator(service);
		const get = (path: string) => admin.call(path);
		const post = (path: string, body: unknown) => admin.call(path, { method: 'POST', body });
		assert.equal((await get('/api/v1/keys?site=north')).body.length, 1);
		assert.equal((await get('/api/v1/messages?limit=2')).status, 200);
		const limit = await get('/api/v1/messages?limit=5000');
		assert.deepEqual([limit.status, limit.body.field], [400, 'limit']);
		assert.equal((await get('/api/v1/sites?nothing=1')).status, 400);
		assert.equal((await get('/api/v1/sites?__proto__=1')).status, 400);
		const nested = JSON.parse(`${'['.repeat(3000)}${']'.repeat(3000)}`);
		const sender = { site: 'north', name: 'Many', protocols: ['hl7-mllp'] };
		const many = await post('/api/v1/clients', { ...sender, allowed_ips: Array(1001).fill('192.0.2.1') });
		assert.deepEqual([many.status, many.body.field], [400, 'allowed_ips']);
		const deep = await post('/api/v1/sites', { slug: 'deep', name: nested });
		assert.deepEqual([deep.status, deep.body.error], [400, 'the body is nested deeper than 32']);
		assert.equal((await get('/api/v1/sites/north?slug=east')).body.field, 'slug');
		assert.equal((await get('/api/v1/sites/nowhere')).status, 404);
		const slug = await post('/api/v1/sites', { slug: 'North', name: 'N' });
		assert.deepEqual([slug.status, slug.body.field], [400, 'slug']);
		assert.equal((await post('/api/v1/sites', { slug: 'north', name: 'N' })).status, 409);
		assert.equal((await post('/api/v1/sites', [])).status, 400);
		assert.equal((await post('/api/v1/sites', { slug: 'nul', name: 'N\0' })).body.field, 'name');
		assert.equal((await get('/api/v1/messages?type=%00')).body.field, 'type');
		assert.equal((await admin.call('/api/v1/sites', { method: 'DELETE' })).status, 405);
		assert.equal((await get('/api/v1/sites')).status, 200, 'the service goes on');
	});
});

describe('what is changed over HTTP', () => {
	test('a replay goes through the mailbox of the site and is counted', async () => {
		await using service = await testService();
		const { key } = await service.addSite('north');
		await fillNorth(service, key);
		const admin = await administrator(service);
		const [group] = (await admin.call('/api/v1/failures?site=north')).body;
		const started = await admin.call('/api/v1/replays', { method: 'POST', body: { site: 'north', cause: group.id } });
		assert.deepEqual([started.status, started.body.total], [200, 1], JSON.stringify(started.body));
		let run = started.body;
		await eventually(async () => {
			run = (await admin.call(`/api/v1/replays/${run.id}`)).body;
			return run.state !== 'running';
		}, 'the end of the replay');
		assert.deepEqual([run.state, run.done, run.refused], ['done', 1, 1]);
		const metrics = await (await fetch(`http://127.0.0.1:${service.port('ops')}/metrics`)).text();
		assert.match(metrics, /tributary_hl7_messages_total\{surface="replay",type="ADT\^A28",outcome="refused"\} 1/);
	});

	test('takes effect within a second: a key works, and is refused when it was revoked', async () => {
		await using service = await testService();
		await service.addSite('north');
		const admin = await administrator(service);
		const created = await admin.call('/api/v1/keys', { method: 'POST', body: { site: 'north', owner, label: 'workstation' } });
		assert.equal(created.status, 200, JSON.stringify(created.body));
		const { id, key } = created.body;
		const statusOf = async () => (await service.fhir('/fhir/Patient', key)).status;
		const turns = async (status: number) => {
			for (const endMs = performance.now() + 10_000; performance.now() < endMs; ) {
				if ((await statusOf()) === status) return;
				await new Promise((resolve) => setTimeout(resolve, 25));
			}
			assert.fail(`the key is not answered ${status}`);
		};
		await turns(200);
		const listed = (await admin.call('/api/v1/keys?site=north')).body.find((one: { id: string }) => one.id === id);
		assert.ok(!JSON.stringify(listed).includes(key));
		const revoke = operations.find(({ name }) => name === 'key revoke') ?? assert.fail('no key revoke');
		assert.equal((await call(admin, revoke, { id })).status, 200);
		await turns(401);
		const events = await service.rows('select action, actor, source from audit_event where subject = $1 order by recorded_at', [id]);
		assert.deepEqual(events, [
			{ action: 'key.create', actor: owner, source: '127.0.0.1' },
			{ action: 'key.revoke', actor: owner, source: '127.0.0.1' },
		]);
	});

	test('ends the sessions of a user whose role is set, at once', async () => {
		await using service = await testService();
		await service.addSite('east');
		const admin = await administrator(service);
		const manager = await asRole(service, 'manager', 'east');
		assert.equal((await manager.call('/api/v1/keys')).status, 200);
		const set = operations.find(({ name }) => name === 'user set') ?? assert.fail('no user set');
		assert.equal((await call(admin, set, { email: 'manager@east.example.org', role: 'auditor' })).status, 200);
		assert.equal((await manager.call('/api/v1/keys')).status, 401);
	});

	test('whoever loses the last site sees nothing; all sites are seen by an auditor of whom that is said', async () => {
		await using service = await testService();
		await service.addSite('east');
		await service.addSite('north');
		const admin = await administrator(service);
		const auditor = await asRole(service, 'auditor', 'east');
		const set = operations.find(({ name }) => name === 'user set') ?? assert.fail('no user set');
		const seen = async () => {
			const [sites, keys, session] = await Promise.all(['sites', 'keys', 'session'].map((path) => auditor.call(`/api/v1/${path}`)));
			const slugs = (rows: { slug: string }[]) => rows.map(({ slug }) => slug).sort();
			assert.deepEqual(slugs(sites?.body), slugs(session?.body.user.sites));
			return { sites: slugs(sites?.body), keys: keys?.body.length, network: (await auditor.call('/api/v1/unmatched/histogram')).status };
		};
		assert.deepEqual(await seen(), { sites: ['east'], keys: 1, network: 403 });
		const email = 'auditor@east.example.org';
		assert.equal((await call(admin, set, { email, sites: [] })).status, 200);
		assert.deepEqual(await seen(), { sites: [], keys: 0, network: 403 });
		assert.deepEqual((await auditor.call('/api/v1/overview')).body.mailboxes, []);
		assert.equal((await call(admin, set, { email, all_sites: true })).body.all_sites, true);
		assert.deepEqual(await seen(), { sites: ['east', 'north'], keys: 2, network: 200 });
		assert.equal((await call(admin, set, { email, all_sites: false })).status, 200);
		assert.deepEqual(await seen(), { sites: [], keys: 0, network: 403 });
	});
});
