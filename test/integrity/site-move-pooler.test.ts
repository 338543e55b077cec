import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { showSite } from '#administration/sites.ts';
import { type NeedName, needs, without } from '#test/support/needs.ts';
import { keepsStatements, pgbouncer } from '#test/support/pgbouncer.ts';
import { eventually, testService } from '#test/support/service.ts';
import { acceptedMessages, Door, moveByCommand, sender } from '#test/support/site-moves.ts';

for (const need of ['pgbouncer', 'pgbouncer_21'] satisfies NeedName[]) {
	const program = needs[need].found ?? '';
	describe(`${need} in transaction mode before both databases`, { skip: without(need) }, () => {
		test('lets a site move while it receives: what was acknowledged is there once and in order', async () => {
			const pooling = keepsStatements(program) ? 'transaction' : 'unprepared';
			const settings = pooling === 'transaction' ? ['max_prepared_statements = 200'] : [];
			await using here = await testService();
			await using there = await testService();
			await using before = await pgbouncer(program, here.databaseUrl, settings);
			await using behind = await pgbouncer(program, there.databaseUrl, settings);
			const { site } = await here.addSite('north', { allowed_ips: ['127.0.0.1'], sending_application: 'ADT' });
			const door = new Door();
			const port = await door.open(here.port('mllp'));
			let isOver = false;
			const sending = sender(port, 'one', () => isOver);
			try {
				await eventually(async () => (await acceptedMessages(here, site.id)).length > 10, 'messages come');
				const pooled = { here: { databaseUrl: before.url(pooling), dataDir: here.dataDir }, there: { databaseUrl: behind.url(pooling) } };
				const { code, err } = await moveByCommand(pooled, 'north');
				assert.equal(code, 0, err);
				door.turn(there.port('mllp'));
				const moved = (await acceptedMessages(there, site.id)).length;
				await eventually(
					async () => (await acceptedMessages(there, site.id)).length > moved + 5,
					'messages come to the other installation',
				);
			} finally {
				isOver = true;
			}
			const count = await sending;
			door.close();
			assert.deepEqual(
				await acceptedMessages(there, site.id),
				Array.from({ length: count }, (_, number) => `one-${number}`),
			);
			assert.equal((await showSite(here.administration, 'north')).move?.state, 'left');
		});
	});
}
