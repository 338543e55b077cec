import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { enableUser, resetPassword } from '#administration/users.ts';
import { eventually, type TestService, testService } from '#test/support/service.ts';
import { adminClient, ownPassword, signedIn } from './client.ts';

const owner = 'owner@example.org';

async function withOwner(work: (service: TestService, password: string) => Promise<void>, environment: Record<string, string> = {}) {
	await using service = await testService(environment);
	await work(service, (await resetPassword(service.administration, owner)).password);
}

describe('signing in', () => {
	test('gives a session in a cookie that scripts and other sites cannot reach', () =>
		withOwner(async (service, password) => {
			const client = adminClient(service);
			assert.deepEqual((await client.call('/api/v1/session')).body, { error: 'nobody is signed in' });
			const answer = await client.signIn('Owner@Example.org', password);
			assert.equal(answer.status, 200);
			assert.match(answer.headers.get('set-cookie') ?? '', /^tributary_session=[\w-]{43}; Path=\/; HttpOnly; SameSite=Strict$/);
			assert.equal(answer.headers.get('cache-control'), 'no-store');
			const { csrf_token, ...rest } = answer.body;
			assert.deepEqual(rest, { user: { email: owner, role: 'administrator', sites: [] }, must_change_password: true });
			assert.match(csrf_token, /^[\w-]{43}$/);
			assert.deepEqual((await client.call('/api/v1/session')).body, answer.body);
			const [session] = await service.rows<{ digest: Buffer; source: string }>('select digest, source from admin_session');
			assert.equal(session?.source, '127.0.0.1');
			assert.ok(!JSON.stringify(session).includes(client.cookie.slice('tributary_session='.length)));
		}));

	test('answers alike for who does not exist, is disabled, has no password, or another', () =>
		withOwner(
			async (service, password) => {
				await service.rows(
					`insert into app_user (id, email, role, active, password_hash)
					select gen_random_uuid(), 'gone@example.org', role, false, password_hash from app_user
					union all select gen_random_uuid(), 'new@example.org', 'manager', true, null`,
				);
				const client = adminClient(service);
				const given: [string, string][] = [
					['nobody@example.org', password],
					['gone@example.org', password],
					['new@example.org', password],
					['new@example.org', 'null'],
					[owner, 'another password'],
				];
				for (const [email, wrong] of given) {
					const { status, body, headers } = await client.signIn(email, wrong);
					assert.equal(status, 401, email);
					assert.deepEqual(body, { error: 'the e-mail address or the password is wrong' });
					assert.equal(headers.get('set-cookie'), null);
				}
			},
			{ SIGN_IN_FAILURES_MAX: '50' },
		));

	test('an account is locked after wrong passwords, be there one or not, and not for good', () =>
		withOwner(async (service, password) => {
			const client = adminClient(service);
			for (const email of [owner, 'nobody@example.org']) {
				for (let time = 0; time < 5; time++) assert.equal((await client.signIn(email, `wrong ${time}`)).status, 401);
				const locked = await client.signIn(email, password);
				assert.equal(locked.status, 429, email);
				assert.deepEqual(locked.body, { error: 'too many wrong passwords' });
				assert.ok(Number(locked.headers.get('retry-after')) >= 1);
				assert.ok(Number(locked.headers.get('retry-after')) <= 5);
			}
			await service.rows('update sign_in_failure set locked_until = now()');
			assert.equal((await client.signIn(owner, 'still wrong')).status, 401);
			const again = await client.signIn(owner, password);
			assert.equal(again.status, 429);
			assert.ok(Number(again.headers.get('retry-after')) > 5, 'the lock grows');
			await service.rows('update sign_in_failure set locked_until = now()');
			assert.equal((await client.signIn(owner, password)).status, 200);
			const [row] = await service.rows<{ failures: number }>(
				"select failures from sign_in_failure where kind = 'account' order by failures",
			);
			assert.equal(row?.failures, 0);
		}));

	test('an address is locked, whichever accounts it tries; guesses that come at once are counted one by one', () =>
		withOwner(
			async (service) => {
				const client = adminClient(service);
				const answers = await Promise.all(Array.from({ length: 12 }, (_, index) => client.signIn(`user${index}@example.org`, 'a guess')));
				assert.equal(answers.filter(({ status }) => status === 401).length, 8);
				assert.equal(answers.filter(({ status }) => status === 429).length, 4);
				assert.equal((await client.signIn('another@example.org', 'a guess')).status, 429);
			},
			{ SIGN_IN_FAILURES_MAX: '2' },
		));

	test('more passwords than may wait to be checked are answered 429', () =>
		withOwner(
			async (service) => {
				const client = adminClient(service);
				const answers = await Promise.all(Array.from({ length: 6 }, (_, index) => client.signIn(`user${index}@example.org`, 'a guess')));
				const busy = answers.filter(({ body }) => body.error === 'too many passwords wait to be checked');
				assert.ok(busy.length > 0);
				assert.ok(busy.every(({ status, headers }) => status === 429 && headers.get('retry-after') === '2'));
			},
			{ SIGN_INS_WAITING_MAX: '1' },
		));

	test('sign-ins, failures and sign-outs are in the audit trail with their address', () =>
		withOwner(async (service, password) => {
			const client = adminClient(service);
			await client.signIn(owner, 'wrong');
			await client.signIn('nobody@example.org', 'wrong');
			await client.signIn(owner, password);
			assert.equal((await client.call('/api/v1/session', { method: 'DELETE' })).status, 204);
			const events = () =>
				service.rows<{ action: string; actor: string; subject: string; source: string }>(
					"select action, actor, subject, source from audit_event where action like 'user.sign-%' order by action, subject",
				);
			await eventually(async () => (await events()).length === 4, 'four audit events');
			const source = '127.0.0.1';
			assert.deepEqual(await events(), [
				{ action: 'user.sign-in', actor: owner, subject: owner, source },
				{ action: 'user.sign-in-failed', actor: 'sender', subject: 'no such user', source },
				{ action: 'user.sign-in-failed', actor: 'sender', subject: owner, source },
				{ action: 'user.sign-out', actor: owner, subject: owner, source },
			]);
		}));

	test('what is no form of it is refused', () =>
		withOwner(async (service) => {
			const client = adminClient(service);
			const send = (body: unknown, headers = {}) => client.call('/api/v1/session', { method: 'POST', body, headers });
			assert.equal((await send({ email: owner })).status, 400);
			assert.equal((await send({ email: owner })).body.field, 'password');
			assert.equal((await send({ email: owner, password: 'x', role: 'administrator' })).status, 400);
			assert.equal((await send({ email: 'a\0b', password: 'x' })).status, 400);
			assert.equal((await send([])).status, 400);
			assert.equal((await send({}, { 'Content-Type': 'text/plain' })).status, 415);
			assert.equal((await client.call('/api/v1/session', { method: 'PATCH' })).status, 405);
			assert.equal((await client.call('/api/v1/nothing')).status, 404);
		}));
});

describe('a session', () => {
	test('ends by signing out, and with its cookie', () =>
		withOwner(async (service, password) => {
			const client = await signedIn(service, owner, password);
			const answer = await client.call('/api/v1/session', { method: 'DELETE' });
			assert.match(answer.headers.get('set-cookie') ?? '', /^tributary_session=; .*Max-Age=0$/);
			assert.equal((await client.call('/api/v1/session')).status, 401);
		}));

	test('ends when it is idle or old', () =>
		withOwner(async (service, password) => {
			const client = await signedIn(service, owner, password);
			await service.rows("update admin_session set seen_at = now() - interval '29 minutes'");
			assert.equal((await client.call('/api/v1/session')).status, 200);
			const [{ idle } = { idle: true }] = await service.rows<{ idle: boolean }>(
				"select seen_at < now() - interval '1 minute' as idle from admin_session",
			);
			assert.equal(idle, false, 'a request keeps it alive');
			await service.rows("update admin_session set seen_at = now() - interval '31 minutes'");
			assert.equal((await client.call('/api/v1/session')).status, 401);
			await service.rows("update admin_session set seen_at = now(), began_at = now() - interval '13 hours'");
			assert.equal((await client.call('/api/v1/session')).status, 401);
		}));

	test('ends when the user is disabled, has another role or another password', () =>
		withOwner(async (service, password) => {
			const client = await signedIn(service, owner, password);
			const holds = async () => (await client.call('/api/v1/session')).status === 200;
			assert.ok(await holds());
			await service.rows("update app_user set role = 'manager'");
			assert.ok(!(await holds()));
			await client.signIn(owner, ownPassword);
			assert.ok(await holds());
			const { password: next } = await resetPassword(service.administration, owner);
			assert.ok(!(await holds()));
			assert.equal((await client.signIn(owner, ownPassword)).status, 401);
			await client.signIn(owner, next);
			assert.ok(await holds());
			await enableUser(service.administration, owner, false);
			assert.ok(!(await holds()));
			await service.rows('update app_user set active = true');
			assert.ok(!(await holds()), 'who is let in again signs in again');
		}));

	test('is another one after the next sign-in of the same browser', () =>
		withOwner(async (service, password) => {
			const client = await signedIn(service, owner, password);
			await client.signIn(owner, ownPassword);
			assert.equal((await service.rows('select from admin_session')).length, 1);
		}));
});

describe('a password', () => {
	test('that was told has to be changed before anything else', () =>
		withOwner(async (service, password) => {
			const client = adminClient(service);
			await client.signIn(owner, password);
			const refused = await client.call('/api/v1/overview');
			assert.deepEqual([refused.status, refused.body], [403, { error: 'the password has to be changed first' }]);
			const change = (current: string, next: string) =>
				client.call('/api/v1/session/password', { method: 'PUT', body: { current, password: next } });
			const rules: [string, RegExp][] = [
				['short', /at least 12/],
				['Owner@Example.org', /is the e-mail/],
				['passwordpassword', /tried first/],
				['PassWord123456', /tried first/],
				['abababababababab', /different characters/],
				[password, /is the current one/],
			];
			for (const [next, reason] of rules) {
				const { status, body } = await change(password, next);
				assert.equal(status, 422, next);
				assert.match(body.error, reason);
			}
			const wrong = await change('not my password', ownPassword);
			assert.deepEqual([wrong.status, wrong.body.error], [403, 'the current password is another']);
			assert.equal((await change(password, ownPassword)).status, 204);
			const session = await client.call('/api/v1/session');
			assert.equal(session.body.must_change_password, false, 'the session goes on');
			assert.equal((await client.call('/api/v1/overview')).status, 200);
			const [event] = await service.rows("select actor, source from audit_event where action = 'user.change-password'");
			assert.deepEqual(event, { actor: owner, source: '127.0.0.1' });
		}));

	test('that is changed ends the other sessions of its user', () =>
		withOwner(async (service, password) => {
			const one = await signedIn(service, owner, password);
			const other = adminClient(service);
			await other.signIn(owner, ownPassword);
			const body = { current: ownPassword, password: 'nine loud herons' };
			assert.equal((await one.call('/api/v1/session/password', { method: 'PUT', body })).status, 204);
			assert.equal((await one.call('/api/v1/session')).status, 200);
			assert.equal((await other.call('/api/v1/session')).status, 401);
		}));
});

describe('requests of other pages', () => {
	test('are refused without the token of the session', () =>
		withOwner(async (service, password) => {
			const client = await signedIn(service, owner, password);
			const token = client.csrfToken;
			for (const wrong of ['', 'x'.repeat(43), `${token}x`]) {
				client.csrfToken = wrong;
				const { status, body } = await client.call('/api/v1/session', { method: 'DELETE' });
				assert.equal(status, 403);
				assert.match(body.error, /X-CSRF-Token/);
			}
			client.csrfToken = token;
			assert.equal((await client.call('/api/v1/session')).status, 200);
		}));

	test('are refused by their origin, for reading as well', () =>
		withOwner(async (service, password) => {
			const client = await signedIn(service, owner, password);
			const foreign: Record<string, string>[] = [
				{ Origin: 'https://evil.example' },
				{ Origin: 'null' },
				{ Origin: `http://127.0.0.1:${service.port('fhir')}` },
				{ 'Sec-Fetch-Site': 'cross-site' },
				{ 'Sec-Fetch-Site': 'same-site' },
			];
			for (const headers of foreign) {
				const message = JSON.stringify(headers);
				assert.equal((await client.call('/api/v1/session', { headers })).status, 403, message);
				const signIn = { method: 'POST', body: { email: owner, password: ownPassword }, headers };
				assert.equal((await client.call('/api/v1/session', signIn)).status, 403, message);
			}
			const own = { Origin: client.origin, 'Sec-Fetch-Site': 'same-origin' };
			assert.equal((await client.call('/api/v1/session', { headers: own })).status, 200);
		}));
});
