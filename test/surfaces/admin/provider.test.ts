import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, test } from 'node:test';
import { addGroup, listGroups, removeGroup } from '#administration/sign-in-groups.ts';
import { addUser, enableUser, listUsers, resetPassword, setUser } from '#administration/users.ts';
import { consoleBrowser } from '#test/support/browser.ts';
import { without } from '#test/support/needs.ts';
import { eventually, type TestService, testService } from '#test/support/service.ts';
import { type Person, type TestSignInProvider, testSignInProvider, Visitor } from '#test/support/sign-in-provider.ts';
import { adminClient, owner, signedIn } from './client.ts';

function settingsFor(provider: TestSignInProvider): Record<string, string> {
	return {
		OIDC_ISSUER: provider.issuer,
		OIDC_CLIENT_ID: provider.clientId,
		OIDC_CLIENT_SECRET: provider.clientSecret,
		OIDC_SCOPE: 'openid email groups',
	};
}

describe('signing in by an OIDC provider', () => {
	let provider: TestSignInProvider;
	let service: TestService;
	let origin = '';
	before(async () => {
		provider = await testSignInProvider();
		service = await testService({
			...settingsFor(provider),
			TOKEN_PROVIDER_MS_MAX: '1000',
			TOKEN_KEYS_UNKNOWN_MS: '100',
			LOCAL_SIGN_IN: 'administrators',
		});
		origin = `http://127.0.0.1:${service.port('admin')}`;
		provider.serve(origin);
		for (const slug of ['north', 'south']) await service.addSite(slug);
		await addGroup(service.administration, { name: 'admins', role: 'administrator' });
		await addGroup(service.administration, { name: 'north-managers', role: 'manager', sites: ['north'] });
		await addGroup(service.administration, { name: 'south-managers', role: 'manager', sites: ['south'] });
		await addGroup(service.administration, { name: 'readers', role: 'auditor', all_sites: true });
	});
	after(async () => {
		await service[Symbol.asyncDispose]();
		await provider[Symbol.asyncDispose]();
	});
	beforeEach(() => {
		provider.mode = 'answers';
	});

	const ann = (groups: string[]): Person => ({ sub: 'ann-1', email: 'Ann@Example.org', email_verified: true, groups });
	/** Goes through the provider. The session of the visitor is asked for afterwards. */
	const visit = async (person: Person | undefined, path = '/keys?site=north', visitor = new Visitor()) => {
		provider.person = person;
		const way = await visitor.follow(`${origin}/api/v1/session/provider?return=${encodeURIComponent(path)}`, origin);
		const session = await visitor.get(`${origin}/api/v1/session`);
		return { ...way, visitor, session: session.status === 200 ? JSON.parse(await session.text()) : undefined };
	};

	test('lets somebody in whom the provider knows, with the role and sites of their groups', async () => {
		const { landed, chain, session, visitor } = await visit(ann(['north-managers', 'others']));
		assert.equal(landed, '/keys?site=north');
		assert.deepEqual(
			session.user.sites.map(({ slug }: { slug: string }) => slug),
			['north'],
		);
		assert.deepEqual([session.user.email, session.user.role, session.sign_in], ['ann@example.org', 'manager', 'provider']);
		const asked = new URL(chain[1] ?? '');
		assert.equal(asked.origin, provider.issuer);
		assert.equal(asked.searchParams.get('code_challenge_method'), 'S256');
		for (const name of ['state', 'nonce', 'code_challenge']) assert.match(asked.searchParams.get(name) ?? '', /^[\w-]{43}$/, name);
		assert.equal((await visitor.get(`${origin}/api/v1/keys?site=north`)).status, 200);
		assert.equal((await visitor.get(`${origin}/api/v1/keys?site=south`)).status, 403);
		const events = () =>
			service.rows<{ detail: object }>("select detail from audit_event where action = 'user.sign-in' and subject = 'ann@example.org'");
		await eventually(async () => (await events()).length === 1, 'the audit event');
		assert.deepEqual((await events())[0]?.detail, { provider: provider.issuer, provider_subject: 'ann-1' });
		assert.equal((await adminClient(service).signIn('ann@example.org', 'any password')).status, 401);
	});

	test('applies the groups anew: the highest role counts with its sites, and whoever has none is signed out everywhere', async () => {
		const first = await visit(ann(['readers', 'south-managers']));
		assert.deepEqual([first.session.user.role, first.session.user.sites.length], ['manager', 1]);
		const second = await visit(ann(['readers']));
		assert.deepEqual([second.session.user.role, second.session.user.sites.length], ['auditor', 2]);
		assert.equal((await first.visitor.get(`${origin}/api/v1/session`)).status, 401, 'another role ends the sessions');
		const lost = await visit(ann([]));
		assert.deepEqual([lost.landed, lost.session], ['/?sign-in=no-role', undefined]);
		assert.equal((await second.visitor.get(`${origin}/api/v1/session`)).status, 401);
		const shown = (await listUsers(service.administration)).find(({ email }) => email === 'ann@example.org');
		assert.deepEqual([shown?.role, shown?.sites, shown?.all_sites, shown?.sign_in], ['auditor', [], false, 'provider']);
	});

	test('a changed mapping ends the sessions of the provider, and holds at the next sign-in', async () => {
		const added = await addGroup(service.administration, { name: 'night', role: 'manager', sites: ['south'] });
		const { visitor, session } = await visit(ann(['night']));
		assert.equal(session.user.role, 'manager');
		await removeGroup(service.administration, { id: added.id });
		assert.equal((await visitor.get(`${origin}/api/v1/session`)).status, 401);
		assert.equal((await visit(ann(['night']))).landed, '/?sign-in=no-role');
		assert.ok(!(await listGroups(service.administration)).some(({ name }) => name === 'night'));
	});

	test('never takes over an account that has the same address, unless an administrator gave it to the provider', async () => {
		await addUser(service.administration, { email: 'bob@example.org', admin: true });
		const bob = { sub: 'bob-1', email: 'bob@example.org', email_verified: true, groups: ['readers'] };
		assert.equal((await visit(bob)).landed, '/?sign-in=account');
		await setUser(service.administration, { email: 'bob@example.org', sign_in: 'provider' });
		assert.equal((await visit({ ...bob, email_verified: false })).landed, '/?sign-in=account');
		assert.equal((await visit(bob)).session.user.role, 'auditor');
		assert.equal((await visit({ ...bob, sub: 'bob-2' })).landed, '/?sign-in=account');
		await assert.rejects(resetPassword(service.administration, 'bob@example.org'), /signs in by the provider/);
		await enableUser(service.administration, 'bob@example.org', false);
		assert.equal((await visit(bob)).landed, '/?sign-in=disabled');
	});

	test('an answer that this browser did not ask for, a wrong state and a used code let nobody in', async () => {
		provider.person = ann(['readers']);
		const victim = new Visitor();
		const { chain } = await victim.follow(`${origin}/api/v1/session/provider`, origin);
		const callback = chain.find((url) => url.includes('/provider/callback')) ?? '';
		assert.equal((await new Visitor().get(callback)).headers.get('location'), '/?sign-in=expired', 'another browser');
		assert.equal((await victim.get(callback)).headers.get('location'), '/?sign-in=expired', 'the attempt is over');
		// A page elsewhere that leads many browsers here locks nobody out.
		for (let time = 0; time < 30; time++) await new Visitor().get(callback);
		const forged = new Visitor();
		await forged.get(`${origin}/api/v1/session/provider`);
		const cookie = forged.cookie(origin, 'tributary_attempt');
		const url = new URL(callback);
		assert.equal((await forged.get(url.href)).headers.get('location'), '/?sign-in=expired', 'a state of another attempt');
		assert.ok(cookie !== undefined);
		const own = new Visitor();
		const begun = await own.get(`${origin}/api/v1/session/provider`);
		url.searchParams.set('state', new URL(begun.headers.get('location') ?? '').searchParams.get('state') ?? '');
		const stolen = await own.get(url.href);
		assert.equal(stolen.headers.get('location'), '/?sign-in=refused', 'a code of somebody else');
		assert.ok(stolen.headers.getSetCookie().every((line) => !line.startsWith('tributary_session=') || line.includes('Max-Age=0')));
	});

	test('leads to pages of the console only', async () => {
		for (const path of [
			'https://evil.example/',
			'//evil.example',
			'/\\evil.example',
			'/api/v1/session',
			'javascript:alert(1)',
			'/a\r\nX: y',
		])
			assert.equal((await visit(ann(['readers']), path)).landed, '/', path);
		const begun = await fetch(`${origin}/api/v1/session/provider`, { redirect: 'manual', headers: { Host: 'localhost' } });
		assert.equal(new URL(new URL(begun.headers.get('location') ?? '').searchParams.get('redirect_uri') ?? '').origin, origin);
		assert.match(
			begun.headers.getSetCookie()[0] ?? '',
			/^tributary_attempt=.*; Path=\/api\/v1\/session\/provider\/callback; HttpOnly; SameSite=Lax; Max-Age=600$/,
		);
	});

	test('a provider that is away, fails or denies is told, and local administrators sign in', async () => {
		await visit(ann(['readers']));
		provider.mode = 'fails';
		const visitor = new Visitor();
		const begun = await visitor.get(`${origin}/api/v1/session/provider`);
		assert.equal(begun.status, 303, 'its metadata are known');
		provider.mode = 'answers';
		assert.equal((await visit(undefined)).landed, '/?sign-in=denied');
		provider.person = ann(['readers']);
		const half = new Visitor();
		const started = await half.get(`${origin}/api/v1/session/provider`);
		let at = started.headers.get('location') ?? '';
		while (!at.startsWith(`${origin}/`)) at = new URL((await half.get(at)).headers.get('location') ?? '', at).href;
		provider.mode = 'hangs';
		assert.equal((await half.get(at)).headers.get('location'), '/?sign-in=away');
		const { password } = await resetPassword(service.administration, owner);
		assert.equal((await adminClient(service).signIn(owner, password)).status, 200);
		provider.mode = 'answers';
	});

	test('local accounts of others than administrators are not let in where they are limited; who knows the password is told so', async () => {
		await addUser(service.administration, { email: 'local@example.org', sites: ['north'] });
		const { password } = await resetPassword(service.administration, 'local@example.org');
		const refused = await adminClient(service).signIn('local@example.org', password);
		assert.deepEqual([refused.status, refused.body.error], [401, 'sign in by the provider; local accounts are for administrators']);
		assert.match((await adminClient(service).signIn('local@example.org', 'wrong')).body.error, /is wrong/);
	});

	test('the provider signs with a new key, and signs people out', async () => {
		const { visitor } = await visit(ann(['readers']));
		await provider.rollOver();
		const next = await visit(ann(['readers']));
		assert.equal(next.session.user.role, 'auditor');
		const logOut = async (token: string) =>
			(await fetch(`${origin}/api/v1/session/provider/logout`, { method: 'POST', body: new URLSearchParams({ logout_token: token }) }))
				.status;
		const events = { 'http://schemas.openid.net/event/backchannel-logout': {} };
		for (const wrong of [
			{ sub: 'ann-1' },
			{ sub: 'ann-1', events, nonce: 'n' },
			{ events },
			{ sub: 'ann-1', events, aud: 'another' },
			{ sub: 'ann-1', events, iss: 'https://elsewhere.example' },
		])
			assert.equal(await logOut(await provider.sign(wrong)), 400, JSON.stringify(wrong));
		assert.equal(await logOut('no token'), 400);
		assert.equal((await visitor.get(`${origin}/api/v1/session`)).status, 200);
		assert.equal(await logOut(await provider.sign({ sub: 'ann-1', events })), 200);
		for (const one of [visitor, next.visitor]) assert.equal((await one.get(`${origin}/api/v1/session`)).status, 401);
	});

	test('signing out leads to the provider', async () => {
		const { visitor, session } = await visit(ann(['readers']));
		const cookie = `tributary_session=${visitor.cookie(origin, 'tributary_session')}`;
		const answer = await fetch(`${origin}/api/v1/session`, {
			method: 'DELETE',
			headers: { Cookie: cookie, 'X-CSRF-Token': session.csrf_token },
		});
		assert.equal(answer.status, 200);
		const { provider_sign_out: url } = (await answer.json()) as { provider_sign_out: string };
		assert.ok(url.startsWith(`${provider.issuer}/session/end?`) && url.includes(encodeURIComponent(`${origin}/`)), url);
		assert.equal((await visitor.get(`${origin}/api/v1/session`)).status, 401);
		assert.equal(session.must_change_password, false);
		const ways = await (await fetch(`${origin}/api/v1/session/ways`)).json();
		assert.deepEqual(ways, { local: 'administrators', provider: { issuer: provider.issuer } });
		assert.equal(
			(await (await signedIn(service, owner, (await resetPassword(service.administration, owner)).password)).call('/api/v1/session'))
				.status,
			200,
		);
	});

	test('a browser goes to the provider and comes back to its page', { skip: without('chromium') }, async () => {
		await using browser = await consoleBrowser(service);
		const page = await browser.open();
		await page.goto('/keys');
		provider.person = ann([]);
		await page.getByRole('button', { name: 'Sign in with 127.0.0.1' }).click();
		await page.getByText('None of your groups has a role here.').waitFor();
		provider.person = { ...ann(['north-managers']), sub: 'eve-1', email: 'eve@example.org' };
		await page.context().clearCookies();
		await page.goto('/keys');
		await page.getByRole('button', { name: 'Sign in with 127.0.0.1' }).click();
		await page.getByRole('heading', { level: 1, name: 'API keys' }).waitFor();
		await page.getByRole('button', { name: 'Account of eve@example.org' }).click();
		assert.equal(await page.getByRole('button', { name: 'Change password…' }).count(), 0);
		assert.deepEqual(browser.faults, []);
	});
});

test('an e-mail address and groups that the ID token does not have are asked of the userinfo endpoint', async () => {
	await using provider = await testSignInProvider({ claimsInToken: false });
	await using service = await testService(settingsFor(provider));
	const origin = `http://127.0.0.1:${service.port('admin')}`;
	provider.serve(origin);
	await addGroup(service.administration, { name: 'readers', role: 'auditor', all_sites: true });
	provider.person = { sub: 'ann-1', email: 'ann@example.org', email_verified: true, groups: ['readers'] };
	const visitor = new Visitor();
	assert.equal((await visitor.follow(`${origin}/api/v1/session/provider`, origin)).landed, '/');
	const { user } = (await (await visitor.get(`${origin}/api/v1/session`)).json()) as { user: { email: string; role: string } };
	assert.deepEqual([user.email, user.role], ['ann@example.org', 'auditor']);
});
