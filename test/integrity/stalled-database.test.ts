import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import pg from 'pg';
import { adt } from '#test/support/adt.ts';
import { MllpClient, msa, sendUntilStored } from '#test/support/mllp-client.ts';
import { readinessOf } from '#test/support/readiness.ts';
import { eventually, type TestService, testService } from '#test/support/service.ts';

/** Holds a table as a migration or REINDEX does. */
async function locked(service: TestService, table: string): Promise<{ waits(): Promise<boolean>; release(): Promise<void> }> {
	const client = new pg.Client({ connectionString: service.databaseUrl });
	await client.connect();
	await client.query('begin');
	await client.query(`lock table ${table} in access exclusive mode`);
	return {
		waits: async () =>
			(await service.rows<{ waits: number }>("select count(*)::int as waits from pg_stat_activity where wait_event_type = 'Lock'"))[0]
				?.waits !== 0,
		release: async () => {
			await client.query('commit');
			await client.end();
		},
	};
}

const refused = (service: TestService) => service.rows("select control_id from message_log where outcome = 'refused'");

describe('a database that stalls', () => {
	test('makes no message AE, however often statements are ended; when it goes on, all are stored and answered in order', async () => {
		await using service = await testService({ WRITE_MS_MAX: '300', WORKERS: '1' });
		await service.addSite('north');
		await service.addSite('south', { allowed_ips: ['127.0.0.2'] });
		const north = await MllpClient.connect(service.port('mllp'));
		const south = await MllpClient.connect(service.port('mllp'), '127.0.0.2');
		assert.equal(msa(await north.send(adt('0', 'A', 0))).code, 'AA');
		const lock = await locked(service, 'patient');
		const answers = [north.send(adt('1', 'A', 1)), north.send(adt('2', 'A', 2)), south.send(adt('3', 'A', 3))];
		// A statement is ended, and another one waits: so it was tried again.
		for (let times = 0; times < 3; times++) {
			await eventually(lock.waits, 'a statement that waits');
			await eventually(async () => !(await lock.waits()), 'its end');
		}
		await lock.release();
		assert.deepEqual(
			(await Promise.all(answers)).map((answer) => msa(answer).code),
			['AA', 'AA', 'AA'],
		);
		assert.deepEqual(await refused(service), []);
		assert.deepEqual(
			(await service.rows('select version from patient order by version')).map(({ version }) => version),
			[1, 3],
		);
		north.close();
		south.close();
	});

	test('closes connections without an answer when it stalls for longer; sent again, the messages are stored once', async () => {
		await using service = await testService({ WRITE_MS_MAX: '300', UNAVAILABLE_MS_MAX: '1000', WORKERS: '1' });
		await service.addSite('north');
		await sendUntilStored(service, adt('0', 'A', 0));
		const client = await MllpClient.connect(service.port('mllp'));
		const lock = await locked(service, 'patient');
		await assert.rejects(client.send(adt('1', 'A', 1)), /closed without an answer/);
		await lock.release();
		await sendUntilStored(service, adt('1', 'A', 1));
		assert.deepEqual(await refused(service), []);
		assert.deepEqual(await service.rows('select version from patient'), [{ version: 2 }]);
	});
});

describe('a database that stands still', () => {
	test('is noticed by /health/ready, which names it, and so is its return', async (context) => {
		await using service = await testService();
		const ready = () => readinessOf(service);
		await eventually(async () => (await ready()).status === 200, 'readiness');
		const backends = await service.rows<{ pid: number }>(
			'select pid from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()',
		);
		try {
			for (const { pid } of backends) process.kill(pid, 'SIGSTOP');
		} catch {
			return context.skip('this user may not stop processes of the database');
		}
		try {
			await eventually(async () => (await ready()).status === 503, 'the end of readiness');
			assert.deepEqual((await ready()).checks, { database: 'down', reads: 'up', workers: 'up', objects: 'up', listeners: 'up' });
		} finally {
			for (const { pid } of backends) process.kill(pid, 'SIGCONT');
		}
		await eventually(async () => (await ready()).status === 200, 'readiness again');
	});
});

describe('a message that fails for a reason that nobody knows', () => {
	test('is not answered and its connection closed; the other site on its lane goes on, and the service stays ready', async () => {
		await using service = await testService({ UNAVAILABLE_MS_MAX: '5000', WORKERS: '1' });
		const { site } = await service.addSite('north');
		await service.addSite('south', { allowed_ips: ['127.0.0.2'] });
		// The first message of a service takes by far the longest, and here the time to store one is short.
		await sendUntilStored(service, adt('0', 'B', 0), '127.0.0.2');
		const north = await MllpClient.connect(service.port('mllp'));
		const south = await MllpClient.connect(service.port('mllp'), '127.0.0.2');
		await service.rows(
			`create function fail() returns trigger language plpgsql as $$ begin raise exception 'a page is damaged' using errcode = 'XX001'; end $$`,
		);
		await service.rows(
			`create trigger fail before insert on patient for each row when (new.site_id = '${site.id}') execute function fail()`,
		);
		let isOpen = true;
		const stuck = assert.rejects(north.send(adt('1', 'A', 1)), /closed without an answer/).then(() => {
			isOpen = false;
		});
		let answered = 0;
		while (isOpen) {
			answered++;
			assert.equal(msa(await south.send(adt(String(answered), 'B', answered))).code, 'AA');
			assert.equal((await fetch(`http://127.0.0.1:${service.port('ops')}/health/ready`)).status, 200);
		}
		await stuck;
		assert.ok(answered > 1, `${answered} messages of the other site`);
		await service.rows('drop trigger fail on patient');
		await sendUntilStored(service, adt('1', 'A', 1));
		assert.deepEqual(await refused(service), []);
		south.close();
	});
});
