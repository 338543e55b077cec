import assert from 'node:assert/strict';
import { once } from 'node:events';
import { mkdirSync, rmSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { join } from 'node:path';
import { test } from 'node:test';
import { ServiceProcess } from '#test/support/service-process.ts';
import { AdminClient, ownPassword } from './client.ts';

test('the first start that succeeds tells a password once, which opens the console and has to be changed', async () => {
	await using other = createServer().listen(0, '127.0.0.1');
	await once(other, 'listening');
	await using service = new ServiceProcess({ MLLP_PORT: String((other.address() as AddressInfo).port) });
	await assert.rejects(service.start(), /the MLLP surface cannot listen on [^ ]+: the port is taken/);
	await other[Symbol.asyncDispose]();
	// This start fails when it has made the administrator, and before it tells the password.
	const inTheWay = join(service.dataDir, 'service.json');
	mkdirSync(join(inTheWay, 'in the way'), { recursive: true });
	await assert.rejects(service.start(), /service\.json/);
	assert.doesNotMatch(service.output, /console sign-in/);
	rmSync(inTheWay, { recursive: true });
	await service.start();
	const [, email = '', password = ''] = /^ {2}console sign-in +(\S+), password (\S+) /m.exec(service.output) ?? [];
	assert.equal(email, 'admin@localhost');
	assert.match(password, /^[\w-]{20}$/);
	assert.equal(service.output.split(password).length, 2, 'it is told in the start block alone');
	assert.match(service.output, /^ {2}console and admin API +http:\/\/127\.0\.0\.1:\d+$/m);
	const client = new AdminClient(`http://127.0.0.1:${service.port('admin')}`);
	const answer = await client.signIn(email, password);
	assert.deepEqual([answer.status, answer.body.must_change_password], [200, true]);
	const change = { method: 'PUT', body: { current: password, password: ownPassword } };
	assert.equal((await client.call('/api/v1/session/password', change)).status, 204);
	assert.equal(await service.end('SIGTERM'), 0);

	await service.start();
	assert.doesNotMatch(service.output, /console sign-in/);
	const again = new AdminClient(`http://127.0.0.1:${service.port('admin')}`);
	assert.equal((await again.signIn(email, password)).status, 401);
	assert.equal((await again.signIn(email, ownPassword)).status, 200);
});
