import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { newId } from '#core/id.ts';
import type { Database } from '#storage/database.ts';
import { LongSearchTable } from '#storage/long-searches.ts';
import { type TestDatabase, testDatabase } from '#test/support/database.ts';
import { doorTo } from '#test/support/door.ts';

let database: TestDatabase;
let door: Database;
let table: LongSearchTable;
before(async () => {
	database = await testDatabase();
	door = doorTo(database.url);
	table = new LongSearchTable(door.journal);
});
after(async () => {
	await door.close();
	await database[Symbol.asyncDispose]();
});

const hour = 3_600_000;
const search = (siteId: string, id: string, type = 'Patient') => ({ siteId, id, type, parameters: `name=${id}` });

test('a long search is kept for its site and type alone', async () => {
	const [west, east, id] = [newId(), newId(), newId()];
	await table.keep(search(west, id), { searchesMax: 10, msMax: hour });
	assert.equal(await table.read(search(west, id)), `name=${id}`);
	assert.equal(await table.read(search(east, id)), undefined);
	assert.equal(await table.read(search(west, id, 'Observation')), undefined);
});

test('only so many long searches of a site are kept: the oldest gives way, and other sites lose none', async () => {
	const [west, east] = [newId(), newId()];
	const ids = [newId(), newId(), newId(), newId()];
	const [oldest = ''] = ids;
	await table.keep(search(east, oldest), { searchesMax: 3, msMax: hour });
	for (const [index, id] of ids.entries()) await table.keep(search(west, id), { searchesMax: 3, msMax: hour + index * 60_000 });
	assert.deepEqual(await Promise.all(ids.map(async (id) => (await table.read(search(west, id))) !== undefined)), [false, true, true, true]);
	assert.ok(await table.read(search(east, oldest)));
});

test('an expired search is not read, and deleted whoever searches next', async () => {
	const [west, east, id] = [newId(), newId(), newId()];
	await table.keep(search(west, id), { searchesMax: 3, msMax: -1 });
	await table.keep(search(east, id), { searchesMax: 3, msMax: -1 });
	assert.equal(await table.read(search(west, id)), undefined);
	await table.keep(search(west, newId()), { searchesMax: 3, msMax: hour });
	const count = async (siteId: string) =>
		(await door.people.rows({ text: 'select id from long_search where site_id = $1' }, [siteId])).length;
	assert.deepEqual([await count(west), await count(east)], [1, 1]);
	await table.deleteExpired();
	assert.deepEqual([await count(west), await count(east)], [1, 0]);
});

test('following a search keeps it for longer', async () => {
	const [west, id] = [newId(), newId()];
	const expires = async () => {
		const [row] = await door.people.rows<{ at: Date }>({ text: 'select expires_at as at from long_search where site_id = $1' }, [west]);
		return row?.at.getTime() ?? 0;
	};
	await table.keep(search(west, id), { searchesMax: 3, msMax: hour });
	const first = await expires();
	await table.keep(search(west, id), { searchesMax: 3, msMax: hour });
	assert.equal(await expires(), first);
	await table.keep(search(west, id), { searchesMax: 3, msMax: 3 * hour });
	assert.ok((await expires()) > first);
});
