import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { openPool, WorkerDatabase } from '#storage/database.ts';
import { fits } from '#storage/database-hosts.ts';
import { adt } from '#test/support/adt.ts';
import { eventually } from '#test/support/eventually.ts';
import { MllpClient, msa } from '#test/support/mllp-client.ts';
import { ServiceProcess } from '#test/support/service-process.ts';
import { startPair } from '#test/support/standby.ts';
import { defaultLimits } from '../../src/limits.ts';

describe('a database of several servers', () => {
	const primary = { standby: false, readOnly: false };
	const standby = { standby: true, readOnly: true };
	const frozen = { standby: false, readOnly: true };
	for (const [wanted, fitting] of [
		['any', [primary, standby, frozen]],
		['read-write', [primary]],
		['read-only', [standby, frozen]],
		['primary', [primary, frozen]],
		['standby', [standby]],
	] as const) {
		test(`${wanted} is what libpq means by it`, () =>
			assert.deepEqual(
				[primary, standby, frozen].filter((state) => fits(state, wanted)),
				fitting,
			));
	}

	test('serves on when its primary is lost and the standby promoted: no restart, nothing acknowledged is lost', async () => {
		await using pair = await startPair();
		const url = (attributes: string) =>
			`postgresql://tributary@${pair.standby.place},${pair.primary.place}/tributary?target_session_attrs=${attributes}`;
		await using service = new ServiceProcess({ DATABASE_URL: url('read-write'), DATABASE_READ_URL: url('prefer-standby') });
		await service.start();
		const key = await service.addSite('north');
		assert.deepEqual(await servers(url('read-write')), { pool: false, lane: 'f', bulk: 'f' });
		assert.deepEqual(await servers(url('prefer-standby')), { pool: true, lane: 't', bulk: 't' });
		const acknowledged: string[] = [];
		const send = async (number: number) => {
			const sender = await MllpClient.connect(service.port('mllp'));
			try {
				const id = `P${number}`;
				if (msa(await sender.send(adt(`C${number}`, id, number))).code === 'AA') acknowledged.push(id);
			} finally {
				sender.socket.destroy();
			}
		};
		for (let number = 0; number < 10; number++) await send(number);
		assert.equal(acknowledged.length, 10);
		const inFlight = send(10).catch(() => undefined);
		pair.primary.cut();
		await pair.promote();
		await inFlight;
		await send(11);
		assert.equal(acknowledged.at(-1), 'P11');
		for (const id of acknowledged) {
			const found = async () => {
				const answer = await fetch(`http://127.0.0.1:${service.port('fhir')}/fhir/Patient?identifier=${id}&_summary=count`, {
					headers: { 'X-API-Key': key },
				});
				return answer.status === 200 && ((await answer.json()) as { total: number }).total === 1;
			};
			await eventually(found, `a read of ${id}`);
		}
		assert.deepEqual(await servers(url('read-write')), { pool: false, lane: 'f', bulk: 'f' });
		const { stdout } = await service.cli('doctor', '--json');
		const hosts = (JSON.parse(stdout) as { checks: { check: string; state: string; text: string }[] }).checks.filter(
			({ check }) => check === 'database servers',
		);
		assert.deepEqual(
			hosts.map(({ state, text }) => [state, text.replace(/:\d+ /, ' ').replace(/: .*/, ': ')]),
			[
				['ok', '127.0.0.1 is the primary'],
				['warning', '127.0.0.1 cannot be reached: '],
			],
		);
		assert.equal(await service.end('SIGTERM'), 0);
	});
});

/** Tells which server each kind of connection has: true or 't' for a standby. */
async function servers(url: string): Promise<Record<string, unknown>> {
	const pool = openPool(url, { max: 1 });
	const door = new WorkerDatabase(url, defaultLimits);
	const text = 'select pg_is_in_recovery() as standby';
	try {
		const [row] = await pool.rows<{ standby: boolean }>({ text }, []);
		const lane = door.lane();
		await lane.open();
		const [cells] = await lane.runOnce(text, []);
		const bulk = await door.bulk('export');
		const [copied] = await bulk.run({ name: 'standby', text }, []);
		await bulk.close();
		return { pool: row?.standby, lane: cells?.[0], bulk: copied?.[0] };
	} finally {
		await Promise.all([pool.close(), door.close()]);
	}
}
