import assert from 'node:assert/strict';
import { test } from 'node:test';
import { matchClient } from '#administration/client-match.ts';
import { operations } from '#administration/operations/index.ts';
import { perform } from '#administration/perform.ts';
import { listSites } from '#administration/sites.ts';
import { testService } from '#test/support/service.ts';

test('a client of a site that was moved is told where the site is, by a match and by a test', async () => {
	await using service = await testService();
	await service.addSite('north', { allowed_ips: ['127.0.0.2'] });
	const sender = { address: '127.0.0.2' };
	assert.equal((await matchClient(service.administration, sender)).outcome, 'match');
	await service.rows("update site set move_state = 'left', move_peer = 'db2:5432/tributary', moved_at = now() where slug = 'north'");
	const { outcome, site, client, reason } = await matchClient(service.administration, sender);
	assert.deepEqual([outcome, site], ['moved', 'north']);
	assert.match(reason, /was moved to the database db2:5432\/tributary/);
	assert.deepEqual(
		(await listSites(service.administration)).map(({ move }) => move?.state),
		['left'],
	);
	const feedTest = operations.find(({ name }) => name === 'feed test') ?? assert.fail();
	await assert.rejects(
		perform(feedTest, service.administration, { id: client?.id ?? '' }),
		/was moved to the database db2:5432.tributary; test it there/,
	);
});
