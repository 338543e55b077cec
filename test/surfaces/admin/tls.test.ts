import assert from 'node:assert/strict';
import { request } from 'node:https';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { resetPassword } from '#administration/users.ts';
import { type TestService, testService } from '#test/support/service.ts';

const owner = 'owner@example.org';
const certificates = join(import.meta.dirname, '../mllp/certificates');

async function signInBody(service: TestService): Promise<string> {
	const { password } = await resetPassword(service.administration, owner);
	return JSON.stringify({ email: owner, password });
}

/** By HTTPS, whoever signed the certificate. */
function post(
	port: number,
	body: string,
	headers: Record<string, string>,
): Promise<{ status: number | undefined; cookie: string | undefined }> {
	return new Promise((resolve, reject) => {
		const options = { host: '127.0.0.1', port, path: '/api/v1/session', method: 'POST', rejectUnauthorized: false };
		const sent = request({ ...options, headers: { 'Content-Type': 'application/json', ...headers } }, (answer) => {
			answer.resume();
			answer.once('end', () => resolve({ status: answer.statusCode, cookie: answer.headers['set-cookie']?.[0] }));
		});
		sent.once('error', reject);
		sent.end(body);
	});
}

describe('over TLS', () => {
	test('the cookie of a session is for TLS alone, and the origin is the one of https', async () => {
		await using service = await testService({
			TLS_CERT_FILE: join(certificates, 'server.cert.pem'),
			TLS_KEY_FILE: join(certificates, 'server.key.pem'),
		});
		assert.equal(service.service.surfaces['admin']?.tls, true);
		const port = service.port('admin');
		const body = await signInBody(service);
		const plain = await post(port, body, { Origin: `http://127.0.0.1:${port}` });
		assert.equal(plain.status, 403);
		const { status, cookie } = await post(port, body, { Origin: `https://127.0.0.1:${port}` });
		assert.equal(status, 200);
		assert.match(cookie ?? '', /; HttpOnly; SameSite=Strict; Secure$/);
	});
});

describe('behind a trusted proxy', () => {
	test('that terminates TLS it is the same, and addresses are those that the proxy forwards', async () => {
		await using service = await testService({ TRUSTED_PROXIES: '127.0.0.1', ADMIN_HOST: '127.0.0.1' });
		const answer = await fetch(`http://127.0.0.1:${service.port('admin')}/api/v1/session`, {
			method: 'POST',
			headers: {
				'Content-Type': 'application/json',
				Origin: `https://127.0.0.1:${service.port('admin')}`,
				'X-Forwarded-Proto': 'https',
				'X-Forwarded-For': '192.0.2.44',
			},
			body: await signInBody(service),
		});
		assert.equal(answer.status, 200);
		for (const cookie of answer.headers.getSetCookie()) assert.match(cookie, /; Secure(;|$)/);
		assert.deepEqual(await service.rows('select source from admin_session'), [{ source: '192.0.2.44' }]);
	});

	test('that nobody trusts nothing of it is believed', async () => {
		await using service = await testService();
		const body = await signInBody(service);
		const answer = await fetch(`http://127.0.0.1:${service.port('admin')}/api/v1/session`, {
			method: 'POST',
			headers: { 'Content-Type': 'application/json', 'X-Forwarded-Proto': 'https', 'X-Forwarded-For': '192.0.2.44' },
			body,
		});
		assert.doesNotMatch(answer.headers.get('set-cookie') ?? '', /Secure/);
		assert.deepEqual(await service.rows('select source from admin_session'), [{ source: '127.0.0.1' }]);
	});
});
