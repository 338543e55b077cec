import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import type { OperationContext } from '#administration/context.ts';
import { previewRetention, showRetention } from '#administration/retention.ts';
import { setSite } from '#administration/sites.ts';
import { dayMs } from '#core/date-range.ts';
import { moveStates } from '#core/move-states.ts';
import { runRetention } from '#retention/run.ts';
import { adt } from '#test/support/adt.ts';
import { doorTo } from '#test/support/door.ts';
import { MllpClient, msa } from '#test/support/mllp-client.ts';
import { eventually, type TestService, testService } from '#test/support/service.ts';

/** By then the months of today are over for a site that keeps them for 30 days. */
const inDays = 400;
const later = () => Date.now() + inDays * dayMs;

describe('retention and a site that moves', () => {
	let service: TestService;
	const ids = new Map<string, string>();

	before(async () => {
		service = await testService();
		for (const [slug, address] of [
			['west', '127.0.0.2'],
			['east', '127.0.0.3'],
		] as const) {
			const { site } = await service.addSite(slug, { allowed_ips: [address] });
			ids.set(slug, site.id);
			await setSite(service.administration, { slug, message_retention_days: '30', history_retention_days: '30' });
		}
	});
	after(() => service[Symbol.asyncDispose]());

	const send = async (slug: string, address: string, id: string) => {
		const client = await MllpClient.connect(service.port('mllp'), address);
		for (const number of [1, 2]) assert.equal(msa(await client.send(adt(`${id}${number}`, `${slug}${id}`, number))).code, 'AA');
		client.close();
	};
	const moves = (state: string | null) => service.rows("update site set move_state = $1 where slug = 'east'", [state]);
	const run = async () => {
		const door = doorTo(service.databaseUrl);
		const { objects, limits } = service.administration;
		const means = { database: door.people, objects, limits, metrics: undefined, nowMs: later };
		const finished = await runRetention(means, { by: 'test', source: null, everySeconds: 0, isEnding: () => false });
		await door.close();
		return finished?.removed ?? assert.fail('another run is under way');
	};
	const counts = async (slug: string) => {
		const [row] = await service.rows<{ messages: number; versions: number }>(
			`select (select count(*)::integer from message_log where site_id = $1) as messages,
				(select count(*)::integer from resource_history where site_id = $1) as versions`,
			[ids.get(slug)],
		);
		return [row?.messages, row?.versions];
	};

	test('nothing of it goes, and no month of which it has a row; what others no longer keep goes', async () => {
		await send('east', '127.0.0.3', 'e');
		const context: OperationContext = { ...service.administration, nowMs: later };
		for (const state of moveStates) {
			await send('west', '127.0.0.2', state);
			await moves(state);
			const shown = (await showRetention(context)).filter(({ site, kept }) => site === 'east' && kept !== 'audit');
			assert.deepEqual([shown.length > 0, shown.every(({ moving }) => moving)], [true, true], state);
			const foreseen = (await previewRetention(context)).filter(({ rows }) => rows > 0).map(({ site }) => site);
			assert.deepEqual([...new Set(foreseen)], ['west'], state);
			const removed = await run();
			assert.deepEqual(
				removed.filter(({ month, site }) => month !== null || site === 'east').filter(({ rows }) => rows > 0),
				[],
				state,
			);
			assert.deepEqual(
				[await counts('west'), await counts('east')],
				[
					[0, 0],
					[2, 1],
				],
				state,
			);
		}
	});

	test('nor does it when the move begins while a run is under way', async () => {
		await moves(null);
		const door = doorTo(service.databaseUrl);
		const { client, release } = await door.people.borrow();
		await client.query('begin');
		await client.query("update site set move_state = 'leaving' where slug = 'east'");
		const running = run();
		await eventually(
			async () => (await service.rows("select from pg_locks where relation = 'site'::regclass and not granted")).length > 0,
			'the run that waits for the move',
		);
		await client.query('commit');
		release();
		await running;
		await door.close();
		assert.deepEqual(await counts('east'), [2, 1]);
	});

	test('when the move was given up, its time is over like that of any other', async () => {
		await moves(null);
		assert.ok((await run()).some(({ month }) => month?.startsWith('message_log')));
		assert.deepEqual(await counts('east'), [0, 0]);
	});
});
