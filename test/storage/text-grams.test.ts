import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import pg from 'pg';
import { silentLog } from '#core/log.ts';
import { definitionOf } from '#fhir/resources/index.ts';
import { parseSearch } from '#fhir/search/parse.ts';
import type { Database } from '#storage/database.ts';
import { searchResources } from '#storage/search.ts';
import type { Statement } from '#storage/statement.ts';
import { gramsOf } from '#storage/statements/text-grams.ts';
import { keepTables, sortInNewEntries } from '#storage/table-upkeep.ts';
import { type TestDatabase, testDatabase } from '#test/support/database.ts';
import { doorTo } from '#test/support/door.ts';
import { eventually } from '#test/support/eventually.ts';
import { ManualTimers, promisesSettle } from '#test/support/manual-timers.ts';
import { insertResources } from '#test/support/stored-resources.ts';
import { defaultLimits } from '../../src/limits.ts';

/** Both end alike, so their grams are the same. */
const siteId = '00000000-0000-4000-8000-00000000abcd';
const otherSiteId = '11111111-0000-4000-8000-11111111abcd';
const rowId = (number: number) => `22222222-0000-4000-8000-${String(number).padStart(12, '0')}`;

let database: TestDatabase;
let client: pg.Client;
let door: Database;

before(async () => {
	database = await testDatabase();
	client = new pg.Client({ connectionString: database.url });
	await client.connect();
	door = doorTo(database.url);
});

after(async () => {
	await door.close();
	await client.end();
	await database[Symbol.asyncDispose]();
});

async function store(site: string, names: readonly string[], first: number): Promise<void> {
	const rows = names.map((text, index) => ({
		type: 'Patient' as const,
		id: rowId(first + index),
		text: JSON.stringify({ name: [{ text }] }),
	}));
	await insertResources(client, site, rows);
}

/** Numbers of the patients on the first page. */
async function found(query: string, site = siteId): Promise<number[]> {
	const definition = definitionOf('Patient') ?? assert.fail();
	const { plan } = parseSearch(definition, query, { limits: defaultLimits, lenient: false, base: 'http://h/fhir', scopes: undefined });
	const { rowIds } = await searchResources(door.reads, site, { ...plan, after: undefined }, defaultLimits.searchBytesMax);
	return rowIds.map((id) => Number(id.slice(-12)));
}

describe('the grams of a text', () => {
	const texts = [
		...['', 'a', 'ab', 'abc', 'abcd', 'abcde', 'abcdef', 'ada byron', 'aaaaaa', 'día\ngarcía', "o'brien", '王小明小明', '𝒳𝒴𝒵a', 'ぎょうざ'],
		...['a\\&b\\1c', '%_%\\', 'a,b"c{d}null', 'e\u0301te\u0301', '100 % sure'],
	];

	test('are the same in the database', async () => {
		for (const text of texts) {
			const { rows } = await client.query('select tributary_grams($1, $2) as grams', [siteId, text]);
			assert.deepEqual(new Set(rows[0].grams), new Set(gramsOf(siteId, text)), JSON.stringify(text));
		}
	});

	test('of a text that is looked for are few, and all of them are among those of a text that has it', async () => {
		const long = 'the quick brown fox jumps over the lazy dog again';
		const few = gramsOf(siteId, long);
		assert.equal(few.length, 12);
		const { rows } = await client.query('select tributary_grams($1, $2) @> $3::text[] as has', [siteId, `xx${long}yy`, few]);
		assert.equal(rows[0].has, true);
	});

	test('of a text of more than 50,000 letters are one entry that says so', async () => {
		const { rows } = await client.query(
			"select n, tributary_grams($1, repeat('é', n)) as grams from unnest(array[50000, 50001]) n order by n",
			[siteId],
		);
		assert.deepEqual(
			rows.map(({ grams }) => grams.length),
			[49_998, 1],
		);
	});
});

describe('a search by a part of a name', () => {
	before(async () => {
		// Rare names stand behind a hundred others, so that no walk meets them.
		await store(
			siteId,
			[...Array.from({ length: 100 }, (_, n) => `Common Number${n}`), 'Ada Byron', 'Adabyr Onax', 'Li Wu', '100 % Sure', 'Zoë Ångström'],
			0,
		);
		await store(otherSiteId, ['Ada Byron of another site'], 900);
	});

	test('finds it in the middle, across words, with accents or without, with the letters that patterns use', async () => {
		assert.deepEqual(await found('name=da by'), [100]);
		assert.deepEqual(await found('name=dabyr'), [101]);
		assert.deepEqual(await found('name=100%25%20%25'), []);
		assert.deepEqual(await found('name=100%20%25'), [103]);
		assert.deepEqual(await found('name=angstrom'), [104]);
		assert.deepEqual(await found('name=%C3%85NGSTR%C3%96M'), [104]);
	});

	test('finds a part that is too short for the index', async () => {
		assert.deepEqual(await found('name=wu'), [102]);
		assert.deepEqual(await found('name=wu,dabyr'), [101, 102]);
		assert.deepEqual(await found('name=by&name=dabyr'), [101]);
	});

	test('finds nothing of another site whose grams are the same', async () => {
		assert.deepEqual(await found('name=byron'), [100]);
		assert.deepEqual(await found('name=byron', otherSiteId), [900]);
	});

	test('finds it in a text that is too long for grams', async () => {
		await store(siteId, [`${'x '.repeat(30_000)}Needle`], 105);
		assert.deepEqual(await found('name=needle'), [105]);
		assert.deepEqual(await found('name=needle,dabyr'), [101, 105]);
		assert.deepEqual(await found('name=needles'), []);
	});

	test('fills the page in the order of the ids where many match', async () => {
		assert.deepEqual(await found('name=common&_count=5'), [0, 1, 2, 3, 4]);
		assert.deepEqual(await found('name=number99'), [99]);
	});
});

test('what GIN gathers is sorted in again and again', async () => {
	const waiting = async () => (await client.query("select gin_clean_pending_list('patient_grams') as pages")).rows[0].pages;
	await waiting();
	await store(siteId, ['Late Comer'], 200);
	assert.notEqual(await waiting(), '0', 'GIN gathers new entries');
	const timers = new ManualTimers();
	const ran: string[] = [];
	const database = {
		run: async (statement: Statement, values: readonly unknown[]) => {
			const rows = await door.people.run(statement, values);
			ran.push(statement.name);
			return rows;
		},
	};
	const rounds = () => ran.filter((name) => name === sortInNewEntries.name).length;
	const tables = keepTables({ database, log: silentLog, timers });
	await eventually(() => rounds() === 1, 'the round at the start');
	await promisesSettle();
	await store(siteId, ['Later Comer'], 201);
	await timers.advance(2000);
	await tables.close();
	assert.equal(rounds(), 2);
	assert.equal(await waiting(), '0');
	assert.deepEqual(await found('name=comer'), [200, 201]);
});
