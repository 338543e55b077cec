import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { systemClock } from '#core/clock.ts';
import { newId, nilId } from '#core/id.ts';
import type { JsonObject } from '#core/json.ts';
import { interpretDelivery } from '#ingest/kinds/index.ts';
import type { MppsDelivery } from '#record/delivery.ts';
import { createProcedureSteps } from '#surfaces/mpps/procedure-steps.ts';
import { BatchRunner } from '#test/support/change-sets.ts';
import { commitLosingProxy } from '#test/support/commit-losing-proxy.ts';
import { testDatabase, testPool } from '#test/support/database.ts';
import { interpretContext } from '#test/support/interpretation.ts';
import { eventually, type TestService, testService } from '#test/support/service.ts';
import { ServiceProcess } from '#test/support/service-process.ts';
import { defaultLimits } from '../../src/limits.ts';

const study = '1.2.840.7';

interface Body {
	sop_instance_uid: string;
	status: string;
	attributes?: JsonObject;
}

async function send(port: number, key: string, body: Body): Promise<{ status: number; session: string | undefined }> {
	const answer = await fetch(`http://127.0.0.1:${port}/ingest`, {
		method: 'POST',
		headers: { 'X-API-Key': key, 'Content-Type': 'application/json' },
		body: JSON.stringify({ study_uid: study, ...body }),
	});
	return { status: answer.status, session: ((await answer.json()) as { session_id?: string }).session_id };
}

const status = (value: string): JsonObject => ({ '00400252': { vr: 'CS', Value: [value] } });
const scheduled: JsonObject = { '00400270': { vr: 'SQ', Value: [{ '0020000D': { vr: 'UI', Value: [study] } }] } };

/** The DIMSE way into the sessions of a running service. */
function dimse(service: TestService, siteId: string) {
	const { shards: gateway, metrics } = service.process();
	const steps = createProcedureSteps({ gateway, limits: defaultLimits, metrics, clock: systemClock });
	const request = (sopInstanceUid: string, attributes: JsonObject) => ({
		...{ siteId, siteSlug: 'north', clientId: undefined, settings: {}, source: '127.0.0.1' },
		...{ sopInstanceUid, attributes },
	});
	return {
		create: (uid: string, more: JsonObject = {}) => steps.create(request(uid, { ...status('IN PROGRESS'), ...scheduled, ...more })),
		set: (uid: string, attributes: JsonObject) => steps.set(request(uid, attributes)),
	};
}

const hundred = Array.from({ length: 100 }, (_, index) => index);

function counted<T>(values: readonly T[]): Map<T, number> {
	const counts = new Map<T, number>();
	for (const value of values) counts.set(value, (counts.get(value) ?? 0) + 1);
	return counts;
}

describe('procedure steps', () => {
	test('of a hundred senders at once one begins the step and one ends it, over DIMSE', async () => {
		await using service = await testService({ WORKERS: '2', PROCESSES: '1' });
		const { site, key } = await service.addSite('north');
		const { create, set } = dimse(service, site.id);
		const begun = await Promise.all(hundred.map((index) => create('1.2.1', { note: index })));
		assert.deepEqual(
			counted(begun.map((answer) => answer.status)),
			new Map(
				[
					[0, 1],
					[0x0111, 99],
				].sort() as [number, number][],
			),
		);
		const ended = await Promise.all(
			hundred.map((index) => set('1.2.1', { ...status(index % 2 ? 'COMPLETED' : 'DISCONTINUED'), by: index })),
		);
		const winner = ended.findIndex((answer) => answer.status === 0);
		assert.deepEqual(counted(ended.map((answer) => answer.status)).get(0), 1);
		for (const [index, answer] of ended.entries())
			if (index !== winner) assert.deepEqual([answer.status, answer.errorId], [0x0110, 0xa710]);
		const [session] = await service.rows<{ status: string; attributes: string }>('select status, attributes from mpps_session');
		assert.equal(session?.status, winner % 2 ? 'COMPLETED' : 'DISCONTINUED');
		assert.equal(JSON.parse(session?.attributes ?? '').by, winner);
		assert.deepEqual(await service.rows('select count(*)::int as reports from mpps_event'), [{ reports: 2 }]);

		assert.equal((await set('1.2.2', status('COMPLETED'))).status, 0x0112);
		assert.equal((await create('1.2.3', status('COMPLETED'))).status, 0x0106);
		assert.equal((await create('not a uid')).status, 0x0117);
		assert.equal((await send(service.port('mpps'), key, { sop_instance_uid: '1.2.1', status: 'COMPLETED' })).status, 409);
		assert.equal((await create('1.2.4')).status, 0);
		assert.equal((await send(service.port('mpps'), key, { sop_instance_uid: '1.2.4', status: 'COMPLETED' })).status, 200);
		const told = await set('1.2.4', status('COMPLETED'));
		assert.deepEqual([told.status, told.errorId], [0x0110, 0xa710], 'both ways lead to one session');
		const logged = await service.rows(`select surface, message_type from message_log where control_id = '1.2.4' order by sequence`);
		assert.deepEqual(logged.map(Object.values), [
			['dimse', 'MPPS N-CREATE'],
			['mpps', 'MPPS COMPLETED'],
			['dimse', 'MPPS N-SET'],
		]);
	});

	test('of a hundred senders at once all begin one session over HTTP, and one ends it', async () => {
		await using service = await testService({ WORKERS: '2', PROCESSES: '1' });
		const { key } = await service.addSite('north');
		const port = service.port('mpps');
		const begun = await Promise.all(hundred.map(() => send(port, key, { sop_instance_uid: '1.2.1', status: 'IN PROGRESS' })));
		assert.deepEqual([...counted(begun.map((answer) => answer.status))], [[200, 100]]);
		assert.equal(new Set(begun.map(({ session }) => session)).size, 1);
		assert.deepEqual(await service.rows('select reports from mpps_session'), [{ reports: 1 }], 'the same report is applied once');
		const ended = await Promise.all(
			hundred.map((index) => send(port, key, { sop_instance_uid: '1.2.1', status: 'COMPLETED', attributes: { by: index } })),
		);
		assert.deepEqual(
			[counted(ended.map((answer) => answer.status)).get(200), counted(ended.map((answer) => answer.status)).get(409)],
			[1, 99],
		);
	});

	test('are answered by what was done when a worker ends in the middle of it', async () => {
		await using service = await testService({ WORKERS: '2', PROCESSES: '1' });
		const { site } = await service.addSite('north');
		const { create } = dimse(service, site.id);
		const answers: number[] = [];
		let kills = 0;
		const sender = async (number: number): Promise<void> => {
			for (let step = 0; step < 60; step++) {
				answers.push((await create(`1.2.${number + 1}.${step}`)).status);
				if (answers.length % 80 !== 0 || answers.length === 480) continue;
				const threads = service.process().shards.threads();
				void threads[kills++ % threads.length]?.terminate();
			}
		};
		await Promise.all(hundred.slice(0, 8).map((number) => sender(number)));
		assert.deepEqual([kills, answers.length], [5, 480]);
		assert.deepEqual([...counted(answers)], [[0, 480]], 'no step is told that it exists already');
		assert.deepEqual(await service.rows('select count(*)::int as steps from mpps_session'), [{ steps: 480 }]);
	});

	test('are found again when the database dies between COMMIT and its answer', async () => {
		await using database = await testDatabase();
		using proxy = await commitLosingProxy(database.url);
		await using runner = new BatchRunner(proxy.url, (delivery) => interpretDelivery(delivery, interpretContext));
		const common = { siteId: newId(), clientId: nilId, source: 'x', receivedAtMs: 0, settings: {}, kind: 'mpps' as const };
		const step = (operation: 'create' | 'set', attributes: JsonObject): MppsDelivery => ({
			...{ ...common, id: newId(), surface: 'dimse', operation },
			bytes: Buffer.from(JSON.stringify({ sop_instance_uid: '1.2.1', attributes })),
		});
		const replies = await runner.process([
			step('create', { ...status('IN PROGRESS'), ...scheduled }),
			step('set', status('COMPLETED')),
			step('set', status('COMPLETED')),
		]);
		assert.equal(proxy.lost(), 1);
		assert.deepEqual(
			replies.map(({ answer }) => 'status' in answer && answer.status),
			[0, 0, 0x0110],
		);
		const pool = testPool(database.url);
		assert.deepEqual((await pool.query('select status, reports from mpps_session')).rows, [{ status: 'COMPLETED', reports: 2 }]);
		await pool.end();
	});

	test('that were acknowledged are there after kill -9, and the last report of each is answered as before', async () => {
		await using service = new ServiceProcess();
		await service.start();
		const [, , { key }] = await service.commands(
			['site', 'add', 'north', '--name', 'North'],
			['user', 'add', 'ann@example.org', '--admin'],
			['key', 'create', '--site', 'north', '--owner', 'ann@example.org'],
		);
		const probe = { sop_instance_uid: '1.2.0', status: 'IN PROGRESS' };
		await eventually(async () => (await send(service.port('mpps'), key, probe)).status === 200, 'the new key');

		const acknowledged = new Map<string, { body: Body; session: string | undefined }>();
		let reports = 0;
		const port = service.port('mpps');
		const sender = async (number: number): Promise<void> => {
			for (let step = 0; ; step++) {
				for (const state of ['IN PROGRESS', 'COMPLETED']) {
					const body = { sop_instance_uid: `1.2.${number + 1}.${step}`, status: state, attributes: { step } };
					const answer = await send(port, key, body);
					assert.equal(answer.status, 200);
					acknowledged.set(body.sop_instance_uid, { body, session: answer.session });
					reports++;
				}
			}
		};
		const senders = hundred.slice(0, 8).map((number) => sender(number));
		const ended = Promise.allSettled(senders);
		await eventually(() => reports > 300, 'acknowledgements');
		await service.end('SIGKILL');
		for (const outcome of await ended)
			assert.ok(outcome.status === 'rejected' && outcome.reason instanceof TypeError, 'the connection ended');

		await service.start();
		assert.ok(acknowledged.size > 100);
		const listed = JSON.parse((await service.cli('mpps', 'list', '--limit', '1000', '--json')).stdout) as {
			sop_instance_uid: string;
			id: string;
			status: string;
		}[];
		const stored = new Map(listed.map((session) => [session.sop_instance_uid, session]));
		for (const [uid, { body, session }] of acknowledged) {
			const found = stored.get(uid);
			assert.equal(found?.id, session, uid);
			assert.ok(found?.status === body.status || found?.status === 'COMPLETED', uid);
			// What was under way at the kill may have gone on by a report whose answer was lost.
			if (found?.status !== body.status) continue;
			assert.deepEqual(await send(service.port('mpps'), key, body), { status: 200, session }, uid);
		}
	});
});
