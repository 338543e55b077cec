import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { checkPooling, checkReplicaPooling } from '#storage/check-pooling.ts';
import { testDatabase } from '#test/support/database.ts';
import { doorTo } from '#test/support/door.ts';
import { type NeedName, needs, without } from '#test/support/needs.ts';
import { keepsStatements, type Pooler, pgbouncer } from '#test/support/pgbouncer.ts';
import { servesEverySurface } from '#test/support/serves-every-surface.ts';
import { ServiceProcess } from '#test/support/service-process.ts';
import { terminal } from '#test/support/terminal.ts';

/** The settings of lanes and reads hold in each of their transactions, and in no other. */
async function keepsSettings(pooler: Pooler, pooling: string): Promise<void> {
	const door = doorTo(pooler.url(pooling), { readMsMax: 12_000, writeMsMax: 13_000 });
	const told = {
		name: 'told',
		text: `select current_setting('enable_seqscan'), current_setting('plan_cache_mode'), current_setting('jit'), current_setting('statement_timeout'),
			current_setting('transaction_read_only')`,
	};
	const lane = door.lane();
	await lane.open();
	const written = ['off', 'force_generic_plan', 'off', '13s', 'off'];
	assert.deepEqual(await lane.run(told, []), [written]);
	assert.equal(await lane.control('begin'), 'BEGIN');
	assert.deepEqual(await lane.run(told, []), [written]);
	assert.equal(await lane.control('commit'), 'COMMIT');
	assert.deepEqual(await door.reads.run(told, []), [['on', 'auto', 'off', '12s', 'on']]);
	const [[seqscan] = []] = await door.people.run(told, []);
	assert.equal(seqscan, 'on');
	await door.close();
}

for (const need of ['pgbouncer', 'pgbouncer_21'] satisfies NeedName[]) {
	const program = needs[need].found ?? '';
	describe(`${need} in transaction mode`, { skip: without(need) }, () => {
		test('is refused in one sentence unless the URL says what it does', async () => {
			await using database = await testDatabase();
			const isNew = keepsStatements(program);
			await using none = await pgbouncer(program, database.url, isNew ? ['max_prepared_statements = 0'] : []);
			const refused =
				/^DATABASE_URL leads through a pooler in transaction mode that keeps no prepared statements: use PgBouncer 1\.21 or newer/;
			await assert.rejects(checkPooling('DATABASE_URL', none.url()), { message: refused });
			await assert.rejects(checkPooling('DATABASE_URL', none.url('transaction')), { message: refused });
			await checkPooling('DATABASE_URL', none.url('unprepared'));
			await checkPooling('DATABASE_URL', database.url);
			await using ignoring = await pgbouncer(program, database.url, ['ignore_startup_parameters = options']);
			await assert.rejects(checkPooling('DATABASE_URL', ignoring.url()), /leads through a pooler in transaction mode/);
			await using ofSessions = await pgbouncer(program, database.url, ['pool_mode = session', 'ignore_startup_parameters = options']);
			await checkPooling('DATABASE_URL', ofSessions.url());
		});

		test('before the replica is refused in one sentence too, at the start and by doctor; a replica that is away is not', async (t) => {
			await using database = await testDatabase();
			await using pooler = await pgbouncer(program, database.url, ['ignore_startup_parameters = options']);
			const refused = /DATABASE_READ_URL leads through a pooler in transaction mode/;
			await using service = new ServiceProcess({ DATABASE_URL: database.url, DATABASE_READ_URL: pooler.url() });
			await assert.rejects(service.start(), refused);
			const findings = async (url: string): Promise<{ check: string; state: string; text: string }[]> => {
				const shell = await terminal(t, { DATABASE_URL: database.url, DATABASE_READ_URL: url });
				const { out } = await shell.run('doctor', '--json');
				return JSON.parse(out).checks;
			};
			const [found, ...others] = (await findings(pooler.url())).filter(({ check }) => check === 'pooler');
			assert.deepEqual([found?.state, others], ['fault', []]);
			assert.match(found?.text ?? '', refused);
			const pooled = await findings(pooler.url('unprepared'));
			assert.deepEqual(
				pooled.filter(({ check }) => check === 'pooler' || check === 'read replica'),
				[{ check: 'read replica', state: 'warning', text: 'is the server of DATABASE_URL itself: DATABASE_READ_URL has no effect' }],
			);
			const warned: object[] = [];
			const away = 'postgresql://nobody@127.0.0.1:1/none';
			await checkReplicaPooling('DATABASE_READ_URL', away, { warn: (about: unknown) => warned.push(about as object) });
			assert.equal(warned.length, 1);
			const [unreachable] = (await findings(away)).filter(({ check }) => check === 'read replica');
			assert.equal(unreachable?.state, 'warning');
			assert.match(
				unreachable?.text ?? '',
				/^does not answer, so the primary answers all reads in its place: the database cannot be reached$/,
			);
		});

		test('serves every surface with statements that are not prepared', async () => {
			await using database = await testDatabase();
			await using pooler = await pgbouncer(program, database.url);
			await keepsSettings(pooler, 'unprepared');
			await servesEverySurface(pooler.url('unprepared'));
		});

		test('serves every surface with the statements that it keeps', {
			skip: keepsStatements(program) ? false : 'it keeps none',
		}, async () => {
			await using database = await testDatabase();
			await using pooler = await pgbouncer(program, database.url, ['max_prepared_statements = 200']);
			await keepsSettings(pooler, 'transaction');
			await servesEverySurface(pooler.url('transaction'));
		});
	});
}
