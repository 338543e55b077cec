import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, test } from 'node:test';
import { codeAt, stepAt } from '#access/second-factor/totp.ts';
import { setPolicy, showPolicy } from '#administration/sign-in-policy.ts';
import { addUser, listUsers, resetPassword, resetSecondFactor } from '#administration/users.ts';
import { consoleBrowser, seriousViolations } from '#test/support/browser.ts';
import { without } from '#test/support/needs.ts';
import { eventually, type TestService, testService } from '#test/support/service.ts';
import { type AdminClient, adminClient, ownPassword, signedIn } from './client.ts';

const path = '/api/v1/session/second-factor';

/** The secret that an authenticator app reads from the QR code. */
function secretOf(uri: string): Buffer {
	const text = new URL(uri).searchParams.get('secret') ?? '';
	const bits = [...text].map((letter) => 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567'.indexOf(letter).toString(2).padStart(5, '0')).join('');
	return Buffer.from((bits.match(/.{8}/g) ?? []).map((byte) => Number.parseInt(byte, 2)));
}

describe('a second factor', () => {
	let service: TestService;
	before(async () => {
		service = await testService({ SIGN_IN_FAILURES_MAX: '3', SIGN_IN_LOCK_MS: '600000' });
		await service.addSite('north');
	});
	after(() => service[Symbol.asyncDispose]());
	beforeEach(() => service.rows('update sign_in_failure set failures = 0, locked_until = now()'));

	const codeOf = (secret: Buffer, ahead = 0) => codeAt(secret, stepAt(Date.now()) + ahead);
	/** Lets the present step count again, as if the time had passed. */
	const later = () => service.rows('update app_user set second_factor_step = second_factor_step - 10');
	const member = async (email: string) => {
		await addUser(service.administration, { email, sites: ['north'] });
		return signedIn(service, email, (await resetPassword(service.administration, email)).password);
	};
	const enrol = async (client: AdminClient) => {
		const begun = await client.call(path, { method: 'POST', body: { password: ownPassword } });
		assert.equal(begun.status, 200, JSON.stringify(begun.body));
		const secret = secretOf(begun.body.uri);
		const confirmed = await client.call(path, { method: 'PUT', body: { code: codeOf(secret) } });
		assert.equal(confirmed.status, 200, JSON.stringify(confirmed.body));
		await later();
		return { secret, codes: confirmed.body.recovery_codes as string[] };
	};
	const signIn = (email: string, code?: string) =>
		adminClient(service).call('/api/v1/session', {
			method: 'POST',
			body: { email, password: ownPassword, ...(code === undefined ? {} : { code }) },
		});

	test('is set up by a code of the app, and asked for from then on; other sessions end', async () => {
		const client = await member('ann@example.org');
		const other = adminClient(service);
		await other.signIn('ann@example.org', ownPassword);
		assert.equal((await client.call(path, { method: 'POST', body: { password: 'not mine' } })).status, 403);
		assert.equal((await client.call(path, { method: 'PUT', body: { code: '000000' } })).status, 409);
		const { secret, codes } = await enrol(client);
		assert.equal(new Set(codes).size, 10);
		for (const code of codes) assert.match(code, /^[a-z2-7]{4}(-[a-z2-7]{4}){3}$/);
		assert.equal((await client.call('/api/v1/session')).status, 200, 'the own session goes on');
		assert.equal((await other.call('/api/v1/session')).status, 401);
		assert.deepEqual((await client.call(path)).body, { enabled: true, required: false, recovery_codes_left: 10 });
		const without = await signIn('ann@example.org');
		assert.deepEqual([without.status, without.body], [401, { error: 'enter the code of your authenticator app', field: 'code' }]);
		assert.equal((await signIn('ann@example.org', codeOf(secret))).status, 200);
		const shown = (await listUsers(service.administration)).find(({ email }) => email === 'ann@example.org');
		assert.equal(shown?.second_factor, true);
	});

	test('is asked for without a count among the sign-ins that were refused; a wrong code is counted there', async () => {
		const refused = async () => {
			const metrics = await (await fetch(`http://127.0.0.1:${service.port('ops')}/metrics`)).text();
			return Number(/^tributary_admin_sign_ins_total\{result="refused"\} (\d+)$/m.exec(metrics)?.[1] ?? 0);
		};
		await enrol(await member('ivy@example.org'));
		const before = await refused();
		assert.equal((await signIn('ivy@example.org')).status, 401);
		assert.equal(await refused(), before);
		assert.equal((await signIn('ivy@example.org', '000000')).status, 401);
		assert.equal(await refused(), before + 1);
	});

	test('takes no code twice, and none of an earlier step', async () => {
		const { secret } = await enrol(await member('bea@example.org'));
		// The step may change meanwhile.
		const code = codeOf(secret);
		assert.equal((await signIn('bea@example.org', code)).status, 200);
		const replayed = await signIn('bea@example.org', code);
		assert.deepEqual([replayed.status, replayed.body], [401, { error: 'the code is wrong, or it was used already', field: 'code' }]);
		assert.equal((await signIn('bea@example.org', codeOf(secret, -1))).status, 401);
		assert.equal((await signIn('bea@example.org', codeOf(secret, 1))).status, 200);
		await later();
		const next = codeOf(secret);
		const answers = await Promise.all([1, 2].map(() => signIn('bea@example.org', next)));
		assert.equal(answers.filter(({ status }) => status === 200).length, 1, 'at the same time, too');
	});

	test('counts wrong codes with wrong passwords; a password without a code is no guess', async () => {
		const { secret } = await enrol(await member('cem@example.org'));
		for (let time = 0; time < 5; time++) assert.equal((await signIn('cem@example.org')).status, 401);
		for (let time = 0; time < 2; time++) assert.equal((await signIn('cem@example.org', '000000')).status, 401);
		assert.equal((await signIn('cem@example.org')).status, 401);
		assert.equal((await signIn('cem@example.org', 'abcd-efgh-ijkl-mnop')).status, 401);
		assert.equal((await signIn('cem@example.org', codeOf(secret))).status, 429);
	});

	test('has recovery codes that count once; the database has digests of them and no secret', async () => {
		const client = await member('dan@example.org');
		const { secret, codes } = await enrol(client);
		const [first = '', second = ''] = codes;
		assert.equal((await signIn('dan@example.org', first.toUpperCase().replaceAll('-', ' '))).status, 200);
		assert.equal((await signIn('dan@example.org', first)).status, 401);
		assert.equal((await client.call(path)).body.recovery_codes_left, 9);
		const used = () => service.rows("select detail from audit_event where action = 'user.recovery-code'");
		await eventually(async () => (await used()).length === 1, 'the audit event');
		assert.deepEqual(await used(), [{ detail: { left: 9 } }]);
		const renewed = await client.call(`${path}/recovery-codes`, { method: 'POST', body: { code: codeOf(secret) } });
		assert.equal(renewed.status, 200);
		assert.equal((await signIn('dan@example.org', second)).status, 401, 'the former ones are gone');
		const kept = JSON.stringify(await service.rows('select * from app_user'));
		for (const text of [...codes, ...renewed.body.recovery_codes]) {
			assert.ok(!kept.includes(Buffer.from(text).toString('hex')) && !kept.includes(text));
		}
		const [row] = await service.rows<{ second_factor: Buffer }>("select second_factor from app_user where email = 'dan@example.org'");
		assert.ok(!row?.second_factor.includes(secret));
	});

	test('is changed and taken away with a code of it only', async () => {
		const client = await member('eva@example.org');
		const { secret } = await enrol(client);
		const again = (code?: string) => client.call(path, { method: 'POST', body: { password: ownPassword, ...(code && { code }) } });
		assert.equal((await again()).status, 422);
		assert.equal((await again(codeOf(secret))).status, 200);
		assert.equal((await client.call(`${path}/remove`, { method: 'POST', body: { code: '000000' } })).status, 422);
		assert.equal((await client.call(`${path}/remove`, { method: 'POST', body: { code: codeOf(secret, 1) } })).status, 204);
		assert.equal((await client.call('/api/v1/session')).status, 200);
		assert.equal((await signIn('eva@example.org')).status, 200);
	});

	test('is required of the roles that the policy names, at once, before anything else', async () => {
		const client = await member('fay@example.org');
		assert.equal((await client.call('/api/v1/keys?site=north')).status, 200);
		await setPolicy(service.administration, { second_factor_roles: ['manager'] });
		assert.deepEqual(await showPolicy(service.administration), { second_factor_roles: ['manager'] });
		const refused = await client.call('/api/v1/keys?site=north');
		assert.deepEqual([refused.status, refused.body], [403, { error: 'you have to set up a second factor first' }]);
		assert.equal((await client.call('/api/v1/session')).body.must_set_second_factor, true);
		const { secret } = await enrol(client);
		assert.equal((await client.call('/api/v1/keys?site=north')).status, 200);
		const kept = await client.call(`${path}/remove`, { method: 'POST', body: { code: codeOf(secret) } });
		assert.deepEqual([kept.status, kept.body.error], [422, 'the policy of the network requires a second factor of your role']);
		await setPolicy(service.administration, { second_factor_roles: [] });
	});

	test('is reset by an administrator, which ends the sessions', async () => {
		const client = await member('gus@example.org');
		await enrol(client);
		const reset = await resetSecondFactor(service.administration, 'gus@example.org');
		assert.equal(reset.second_factor, undefined);
		assert.equal((await client.call('/api/v1/session')).status, 401);
		assert.equal((await signIn('gus@example.org')).status, 200);
		const [event] = await service.rows("select actor, subject from audit_event where action = 'user.reset-second-factor'");
		assert.deepEqual(event, { actor: 'test', subject: 'gus@example.org' });
	});

	test('is set up and used in a browser, by keyboard alone, on pages without faults of accessibility', {
		skip: without('chromium'),
	}, async () => {
		await using browser = await consoleBrowser(service);
		const page = await browser.open();
		await addUser(service.administration, { email: 'hal@example.org', sites: ['north'] });
		await setPolicy(service.administration, { second_factor_roles: ['manager'] });
		const { password } = await resetPassword(service.administration, 'hal@example.org');
		await page.goto('/');
		await page.getByLabel('E-mail').fill('hal@example.org');
		await page.getByLabel('Password').fill(password);
		await page.keyboard.press('Enter');
		await page.getByLabel('New password', { exact: true }).fill(ownPassword);
		await page.getByLabel('New password again').fill(ownPassword);
		await page.keyboard.press('Enter');
		await page.getByLabel('Your password').fill(ownPassword);
		await page.keyboard.press('Enter');
		await page.getByRole('img', { name: 'QR code' }).waitFor();
		assert.deepEqual(await seriousViolations(page), []);
		const key = ((await page.locator('[data-secret]').textContent()) ?? '').replaceAll(' ', '');
		const secret = secretOf(`otpauth://totp/x?secret=${key}`);
		await page.getByLabel('Code', { exact: true }).fill(codeOf(secret));
		await page.keyboard.press('Enter');
		await page.getByRole('button', { name: 'I have kept them' }).waitFor();
		assert.deepEqual(await seriousViolations(page), []);
		await page.getByRole('button', { name: 'I have kept them' }).press('Enter');
		await page.getByRole('button', { name: 'Account of hal@example.org' }).press('Enter');
		await page.getByRole('button', { name: 'Sign out' }).press('Enter');
		await page.getByLabel('E-mail').fill('hal@example.org');
		await page.getByLabel('Password').fill(ownPassword);
		await page.keyboard.press('Enter');
		await page.getByLabel('Code', { exact: true }).fill('000000');
		await page.keyboard.press('Enter');
		await page.getByText('The code is wrong, or it was used already').waitFor();
		assert.deepEqual(await seriousViolations(page), []);
		await later();
		await page.getByLabel('Code', { exact: true }).fill(codeOf(secret));
		await page.keyboard.press('Enter');
		await page.locator('#navigation').waitFor({ state: 'attached' });
		await setPolicy(service.administration, { second_factor_roles: [] });
		assert.deepEqual(browser.faults, []);
	});
});
