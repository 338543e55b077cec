import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { addUser, enableUser, resetPassword } from '#administration/users.ts';
import { eventually, type TestService, testService } from '#test/support/service.ts';
import { type AdminClient, adminClient, signedIn } from '../client.ts';

const owner = 'owner@example.org';

async function administrator(service: TestService): Promise<AdminClient> {
	return signedIn(service, owner, (await resetPassword(service.administration, owner)).password);
}

/** What a stream has said so far. */
async function watch(client: AdminClient) {
	const controller = new AbortController();
	const answer = await fetch(`${client.origin}/api/v1/overview/live`, { headers: { Cookie: client.cookie }, signal: controller.signal });
	const seen = { status: answer.status, headers: answer.headers, text: '', ended: false, failed: false };
	const reading = (async () => {
		for await (const chunk of answer.body ?? []) seen.text += Buffer.from(chunk).toString();
	})().then(
		() => {
			seen.ended = true;
		},
		() => {
			seen.failed = true;
		},
	);
	return { seen, leave: () => controller.abort(), reading };
}

describe('the overview', () => {
	test('is for who is signed in; a manager sees the figures of the own sites', async () => {
		await using service = await testService();
		await service.addSite('north');
		assert.equal((await adminClient(service).call('/api/v1/overview')).status, 401);
		assert.equal((await adminClient(service).call('/api/v1/overview/live')).status, 401);
		const client = await administrator(service);
		await eventually(async () => (await client.call('/api/v1/overview')).body.points.length > 0, 'the first point');
		const { body } = await client.call('/api/v1/overview');
		assert.equal(body.points[0].associations, 0);
		assert.ok(body.storage_bytes > 0);
		await addUser(service.administration, { email: 'north@example.org', admin: false, sites: ['north'] });
		const { password } = await resetPassword(service.administration, 'north@example.org');
		const manager = await signedIn(service, 'north@example.org', password);
		const own = (await manager.call('/api/v1/overview')).body;
		assert.deepEqual([own.points[0].associations, own.storage_bytes, own.alerts], [null, 0, []]);
	});
});

describe('a stream of live figures', () => {
	test('begins with a point, and ends with the session', async () => {
		await using service = await testService();
		const client = await administrator(service);
		const { seen, reading } = await watch(client);
		assert.equal(seen.status, 200);
		assert.equal(seen.headers.get('content-type'), 'text/event-stream; charset=utf-8');
		assert.equal(seen.headers.get('content-encoding'), null);
		await eventually(() => seen.text.includes('event: point\n'), 'a point');
		const [, data = ''] = /^event: point\ndata: (.*)\n\n/m.exec(seen.text) ?? [];
		// The last hour is read from the database now and then.
		const { points, last_hour: _hour, ...state } = (await client.call('/api/v1/overview')).body;
		assert.deepEqual(
			JSON.parse(data),
			points.find(({ at }: { at: string }) => at === JSON.parse(data).at),
		);
		const [, stated = ''] = /^event: state\ndata: (.*)\n\n/m.exec(seen.text) ?? [];
		const { last_hour: hour, ...told } = JSON.parse(stated);
		assert.equal(hour?.minutes.length, 60, 'the first state has the hour that is stored, though nobody has asked before');
		assert.deepEqual(told, state);
		assert.equal(seen.ended, false);
		await enableUser(service.administration, owner, false);
		await reading;
		assert.equal(seen.ended, true);
	});

	test('ends when its user gets other sites, as what it shows would be theirs', async () => {
		await using service = await testService();
		await service.addSite('north');
		await addUser(service.administration, { email: 'north@example.org', admin: false, sites: ['north'] });
		const { password } = await resetPassword(service.administration, 'north@example.org');
		const { seen, reading } = await watch(await signedIn(service, 'north@example.org', password));
		await eventually(() => seen.text.includes('event: point\n'), 'a point');
		await service.rows('delete from site_member');
		await reading;
		assert.equal(seen.ended, true);
	});

	test('ends when the service drains, which does not wait for it', async () => {
		await using service = await testService();
		const { seen, reading } = await watch(await administrator(service));
		await eventually(() => seen.text.includes('event: point\n'), 'a point');
		await service.restart();
		await reading;
		assert.equal(seen.ended, true);
	});

	test('is one of so many; who leaves makes room', async () => {
		await using service = await testService({ LIVE_WATCHERS_MAX: '1' });
		const client = await administrator(service);
		const first = await watch(client);
		await eventually(() => first.seen.text !== '', 'the first stream');
		const refused = await client.call('/api/v1/overview/live');
		assert.deepEqual([refused.status, refused.headers.get('retry-after')], [503, '10']);
		first.leave();
		await first.reading;
		await eventually(async () => {
			const next = await watch(client);
			next.leave();
			await next.reading;
			return next.seen.status === 200;
		}, 'room for another stream');
	});

	test('of one user are so many that others have room', async () => {
		await using service = await testService({ LIVE_WATCHERS_OF_USER_MAX: '1' });
		const client = await administrator(service);
		const first = await watch(client);
		await eventually(() => first.seen.text !== '', 'the first stream');
		assert.equal((await client.call('/api/v1/overview/live')).status, 503);
		await addUser(service.administration, { email: 'other@example.org', admin: true });
		const { password } = await resetPassword(service.administration, 'other@example.org');
		const other = await watch(await signedIn(service, 'other@example.org', password));
		assert.equal(other.seen.status, 200);
		for (const { leave, reading } of [first, other]) {
			leave();
			await reading;
		}
	});
});
