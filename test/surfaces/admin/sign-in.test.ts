import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { addUser, resetPassword } from '#administration/users.ts';
import { eventually } from '#test/support/eventually.ts';
import { adminClient, owner, ownPassword, signedIn, withOwner } from './client.ts';

describe('signing in', () => {
	test('gives a session in a cookie that scripts and other sites cannot reach', () =>
		withOwner(async (service, password) => {
			const client = adminClient(service);
			assert.deepEqual((await client.call('/api/v1/session')).body, { error: 'you are not signed in' });
			const answer = await client.signIn('Owner@Example.org', password);
			assert.equal(answer.status, 200);
			const [session = '', browser = '', ...further] = answer.headers.getSetCookie();
			assert.match(session, /^tributary_session=[\w-]{43}; Path=\/; HttpOnly; SameSite=Strict$/);
			assert.match(browser, /^tributary_browser=[\w.-]{87}; Path=\/api\/v1\/session; HttpOnly; SameSite=Strict; Max-Age=15552000$/);
			assert.deepEqual(further, []);
			assert.equal(answer.headers.get('cache-control'), 'no-store');
			const { csrf_token, ...rest } = answer.body;
			assert.deepEqual(rest, { user: { email: owner, role: 'administrator', sites: [] }, must_change_password: true });
			assert.match(csrf_token, /^[\w-]{43}$/);
			assert.deepEqual((await client.call('/api/v1/session')).body, answer.body);
			const [held] = await service.rows<{ digest: Buffer; source: string }>('select digest, source from admin_session');
			assert.equal(held?.source, '127.0.0.1');
			assert.ok(!JSON.stringify(held).includes(client.cookie.slice('tributary_session='.length).split(';')[0] ?? ''));
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

	test('a one-time password expires; who knows it is told so, and everybody else nothing', () =>
		withOwner(async (service, password) => {
			await service.rows("update app_user set one_time_since = now() - interval '6 days 23 hours'");
			assert.equal((await adminClient(service).signIn(owner, password)).status, 200);
			await service.rows("update app_user set one_time_since = now() - interval '7 days 1 minute'");
			const client = adminClient(service);
			const expired = await client.signIn(owner, password);
			assert.deepEqual([expired.status, expired.body], [401, { error: 'the one-time password has expired; ask for a new one' }]);
			assert.equal(expired.headers.get('set-cookie'), null);
			assert.deepEqual((await client.signIn(owner, 'another password')).body, { error: 'the e-mail address or the password is wrong' });
			const reset = await resetPassword(service.administration, owner);
			const fresh = adminClient(service);
			assert.equal((await fresh.signIn(owner, reset.password)).status, 200);
			const change = { method: 'PUT', body: { current: reset.password, password: ownPassword } };
			assert.equal((await fresh.call('/api/v1/session/password', change)).status, 204);
			assert.deepEqual(await service.rows('select one_time_since from app_user'), [{ one_time_since: null }]);
		}));

	test('an account is locked after wrong passwords, be there one or not, and not for good', () =>
		withOwner(
			async (service, password) => {
				const client = adminClient(service);
				for (const email of [owner, 'nobody@example.org']) {
					for (let time = 0; time < 5; time++) assert.equal((await client.signIn(email, `wrong ${time}`)).status, 401);
					const locked = await client.signIn(email, password);
					assert.equal(locked.status, 429, email);
					assert.deepEqual(locked.body, { error: 'too many wrong passwords; try again later' });
					assert.ok(Number(locked.headers.get('retry-after')) >= 1);
					assert.ok(Number(locked.headers.get('retry-after')) <= 600);
				}
				await service.rows('update sign_in_failure set locked_until = now()');
				assert.equal((await client.signIn(owner, 'still wrong')).status, 401);
				const again = await client.signIn(owner, password);
				assert.equal(again.status, 429);
				assert.ok(Number(again.headers.get('retry-after')) > 600, 'the lock grows');
				await service.rows('update sign_in_failure set locked_until = now()');
				assert.equal((await client.signIn(owner, password)).status, 200);
				const [row] = await service.rows<{ failures: number }>(
					"select failures from sign_in_failure where kind = 'account' order by failures",
				);
				assert.equal(row?.failures, 0);
			},
			{ SIGN_IN_LOCK_MS: '600000' },
		));

	test('whoever is given a new password is not locked out by what others guessed', () =>
		withOwner(
			async (service) => {
				const client = adminClient(service);
				for (let time = 0; time < 2; time++) assert.equal((await client.signIn(owner, 'a guess')).status, 401);
				assert.equal((await client.signIn(owner, 'a guess')).status, 429);
				const { password } = await resetPassword(service.administration, owner);
				assert.equal((await client.signIn(owner, password)).status, 200);
			},
			{ SIGN_IN_FAILURES_MAX: '2', SIGN_IN_LOCK_MS: '600000' },
		));

	test('strangers who guess lock out nobody who signed in from the same browser before, nor who is signed in', () =>
		withOwner(
			async (service, oneTime) => {
				const browser = await signedIn(service, owner, oneTime);
				const stranger = adminClient(service);
				for (let time = 0; time < 2; time++) assert.equal((await stranger.signIn(owner, 'a guess')).status, 401);
				assert.equal((await stranger.signIn(owner, ownPassword)).status, 429, 'the account is locked');
				const body = { current: ownPassword, password: 'nine loud herons' };
				assert.equal((await browser.call('/api/v1/session/password', { method: 'PUT', body })).status, 204);
				assert.equal((await browser.call('/api/v1/session', { method: 'DELETE' })).status, 204);
				assert.equal((await browser.signIn(owner, body.password)).status, 200);
				assert.equal((await stranger.signIn(owner, body.password)).status, 429, 'the lock holds for everybody else');
			},
			{ SIGN_IN_FAILURES_MAX: '2', SIGN_IN_LOCK_MS: '600000' },
		));

	test('a known browser has no more guesses than an account, is known for its account alone, and cannot be made up', () =>
		withOwner(
			async (service, oneTime) => {
				const other = 'other@example.org';
				await addUser(service.administration, { email: other, admin: true });
				const { password } = await resetPassword(service.administration, other);
				const browser = await signedIn(service, owner, oneTime);
				const cookies = browser.cookie;
				for (let time = 0; time < 2; time++) assert.equal((await browser.signIn(owner, 'a guess')).status, 401);
				assert.equal((await browser.signIn(owner, ownPassword)).status, 429, 'the browser is locked');
				assert.equal((await adminClient(service).signIn(owner, ownPassword)).status, 200, 'the account is not');
				for (let time = 0; time < 2; time++) assert.equal((await browser.signIn(other, 'a guess')).status, 401);
				assert.equal((await browser.signIn(other, password)).status, 429, 'another account is counted by itself');
				const [name = ''] = /tributary_browser=[^.]+/.exec(cookies) ?? [];
				const stranger = adminClient(service);
				for (const made of [`tributary_browser=${'x'.repeat(22)}.${'0'.repeat(64)}`, `${name}.${'0'.repeat(64)}`, `${name}.`]) {
					stranger.cookie = made;
					assert.equal((await stranger.signIn(other, password)).status, 429, made);
				}
			},
			{ SIGN_IN_FAILURES_MAX: '2', SIGN_IN_LOCK_MS: '600000' },
		));

	test('the current password is not guessed with a session', () =>
		withOwner(
			async (service, oneTime) => {
				const client = await signedIn(service, owner, oneTime);
				const change = (current: string) =>
					client.call('/api/v1/session/password', { method: 'PUT', body: { current, password: 'nine loud herons' } });
				for (let time = 0; time < 2; time++) assert.equal((await change('a guess')).status, 403);
				assert.equal((await change(ownPassword)).status, 429);
				assert.equal((await adminClient(service).signIn(owner, ownPassword)).status, 200);
			},
			{ SIGN_IN_FAILURES_MAX: '2', SIGN_IN_LOCK_MS: '600000' },
		));

	test('an address is locked, whichever accounts it tries; guesses that come at once are counted one by one', () =>
		withOwner(
			async (service) => {
				const client = adminClient(service);
				const answers = await Promise.all(Array.from({ length: 12 }, (_, index) => client.signIn(`user${index}@example.org`, 'a guess')));
				assert.equal(answers.filter(({ status }) => status === 401).length, 8);
				assert.equal(answers.filter(({ status }) => status === 429).length, 4);
				assert.equal((await client.signIn('another@example.org', 'a guess')).status, 429);
			},
			{ SIGN_IN_FAILURES_MAX: '2', SIGN_IN_LOCK_MS: '600000' },
		));

	test('more passwords than may wait to be checked are answered 429', () =>
		withOwner(
			async (service) => {
				const client = adminClient(service);
				const answers = await Promise.all(Array.from({ length: 6 }, (_, index) => client.signIn(`user${index}@example.org`, 'a guess')));
				const busy = answers.filter(({ body }) => body.error === 'too many people are signing in; try again in a moment');
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
