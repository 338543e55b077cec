import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { after, before, describe, test } from 'node:test';
import { textArray } from '#storage/statement.ts';
import { type TestDatabase, testDatabase } from '#test/support/database.ts';
import { doorTo } from '#test/support/door.ts';

/** The columns that observations are given as, each of which PostgreSQL keeps in a store of its own. */
const columns = Array.from({ length: 20 }, (_, index) => index + 1);
const statement = {
	name: 'twenty_columns',
	text: `select count(*) from unnest(${columns.map((column) => `$${column}::text[]`).join(', ')}) as k (${columns.map((column) => `c${column}`).join(', ')})`,
};
const values = columns.map((column) => textArray([`${column}`, 'a second one']).toPostgres());
const pages = 10;

let database: TestDatabase;

before(async () => {
	database = await testDatabase();
});

after(() => database[Symbol.asyncDispose]());

/** The pages that a process has taken anew: the tenth figure of proc_pid_stat(5), behind the name in brackets. */
function faultsOf(pid: string): number {
	return Number(readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.split(' ')[7]);
}

describe('the server process of a connection', { skip: process.platform !== 'linux' && 'only Linux counts the pages of a process' }, () => {
	async function keeps(
		run: (statement: { name: string; text: string }, values: readonly unknown[]) => Promise<unknown[][]>,
	): Promise<void> {
		const [row] = await run({ name: 'pid', text: 'select pg_backend_pid()' }, []);
		const pid = String(row?.[0]);
		const repeat = async (times: number) => {
			for (let time = 0; time < times; time++) assert.deepEqual(await run(statement, values), [['2']]);
		};
		await repeat(10);
		const before = faultsOf(pid);
		await repeat(100);
		const taken = (faultsOf(pid) - before) / 100;
		assert.ok(taken < pages, `a statement took ${taken} pages anew`);
	}

	test('keeps the memory that statements free, if it writes', async (t) => {
		const door = doorTo(database.url);
		t.after(() => door.close());
		const lane = door.lane();
		await keeps((...of) => lane.runOpened(...of));
	});

	test('keeps it, if it reads', async (t) => {
		const door = doorTo(database.url, { readConnectionsMax: 1 });
		t.after(() => door.close());
		await keeps((...of) => door.reads.run(...of));
	});

	test('keeps it, if it imports', async (t) => {
		const door = doorTo(database.url);
		t.after(() => door.close());
		const bulk = await door.bulk('import');
		t.after(() => bulk.close());
		await keeps((...of) => bulk.run(...of));
	});
});
