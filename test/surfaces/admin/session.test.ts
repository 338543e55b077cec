import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { addUser, enableUser, resetPassword } from '#administration/users.ts';
import { adminClient, owner, ownPassword, signedIn, withOwner } from './client.ts';

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
			await service.rows("update admin_session set seen_at = now() - interval '20 minutes'");
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

	test('is listed with its user, and ended with all others of that user by an administrator', () =>
		withOwner(async (service, password) => {
			await service.addSite('north');
			await addUser(service.administration, { email: 'ann@example.org', role: 'manager', sites: ['north'] });
			const oneTime = (await resetPassword(service.administration, 'ann@example.org')).password;
			const client = await signedIn(service, owner, password);
			const listed = async () =>
				(await client.call('/api/v1/users')).body.find(({ email }: { email: string }) => email === 'ann@example.org');
			assert.equal((await listed()).last_sign_in_at, undefined, 'who never signed in has no time of it');
			const ann = await signedIn(service, 'ann@example.org', oneTime);
			const second = adminClient(service);
			await second.signIn('ann@example.org', ownPassword);
			const at = Date.parse((await listed()).last_sign_in_at);
			const sessions = async (query = '') => (await client.call(`/api/v1/sessions${query}`)).body;
			const other = await client.call('/api/v1/users/ann@example.org', { method: 'PATCH', body: { sites: ['north'] } });
			assert.equal(Date.parse(other.body.last_sign_in_at), at, 'the answer to a change has it, too');
			const all = await sessions();
			assert.deepEqual(all.map(({ email }: { email: string }) => email).sort(), ['ann@example.org', 'ann@example.org', owner]);
			assert.ok(all.every(({ source }: { source: string }) => source === '127.0.0.1'));
			const [newest] = await sessions('?email=Ann@example.org');
			assert.equal(Date.parse(newest.began_at), at, 'the last sign-in began the newest session');
			assert.equal((await client.call('/api/v1/sessions?email=nobody@example.org')).status, 404);
			assert.equal((await ann.call('/api/v1/sessions')).status, 403);
			await service.rows(
				"update admin_session s set seen_at = now() - interval '31 minutes' from app_user u where u.id = s.user_id and u.email = 'ann@example.org' and began_at < $1",
				[newest.began_at],
			);
			assert.equal((await sessions('?email=ann@example.org')).length, 1, 'one that ended by age is not signed in');
			assert.equal((await second.call('/api/v1/users/owner@example.org/end-sessions', { method: 'POST', body: {} })).status, 403);
			const ended = await client.call('/api/v1/users/ann@example.org/end-sessions', { method: 'POST', body: {} });
			assert.deepEqual([ended.status, ended.body.email], [200, 'ann@example.org']);
			assert.equal((await second.call('/api/v1/session')).status, 401);
			assert.equal((await client.call('/api/v1/session')).status, 200);
			assert.deepEqual(await sessions('?email=ann@example.org'), []);
			const [event] = await service.rows("select actor, subject, source from audit_event where action = 'user.end-sessions'");
			assert.deepEqual(event, { actor: owner, subject: 'ann@example.org', source: '127.0.0.1' });
			assert.equal((await second.signIn('ann@example.org', ownPassword)).status, 200, 'the password stays');
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
			assert.deepEqual([refused.status, refused.body], [403, { error: 'you have to change your password first' }]);
			const change = (current: string, next: string) =>
				client.call('/api/v1/session/password', { method: 'PUT', body: { current, password: next } });
			const rules: [string, RegExp][] = [
				['short', /at least 12/],
				['Owner@Example.org', /must not be the e-mail/],
				['passwordpassword', /too common/],
				['PassWord123456', /too common/],
				['abababababababab', /different characters/],
				[password, /must differ from the current one/],
			];
			for (const [next, reason] of rules) {
				const { status, body } = await change(password, next);
				assert.equal(status, 422, next);
				assert.match(body.error, reason);
			}
			const wrong = await change('not my password', ownPassword);
			assert.deepEqual([wrong.status, wrong.body.error], [403, 'the current password is wrong']);
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
