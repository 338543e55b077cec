import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import pg from 'pg';
import { newId } from '#core/id.ts';
import { definitionOf } from '#fhir/resources/index.ts';
import { parseSearch } from '#fhir/search/parse.ts';
import type { SearchPlan } from '#record/search-plan.ts';
import type { ResourceType } from '#record/table-shape.ts';
import type { Database } from '#storage/database.ts';
import { searchResources } from '#storage/search.ts';
import { inlined } from '#storage/statements/inlined.ts';
import { searchQuery } from '#storage/statements/search-resources.ts';
import { type TestDatabase, testDatabase } from '#test/support/database.ts';
import { doorTo } from '#test/support/door.ts';
import { nodesOf, type PlanNode } from '#test/support/plan.ts';
import { defaultLimits } from '../../src/limits.ts';

/** Searches by the index of elements in a site of so many observations, whatever part of them matches, and wherever these stand. */
const count = 30_000;
const siteId = newId();
let database: TestDatabase;
let client: pg.Client;
let door: Database;

/** Codes, and the numbers of the observations that have them. */
const codes: Readonly<Record<string, string>> = {
	all: 'true',
	tenth: 'n % 10 = 3',
	hundredth: 'n % 100 = 7',
	few: 'n % 5000 = 77',
	one: 'n = 29999',
	// A walk begins, as the first have it, and finds too few.
	early: 'n in (5, 6, 7) or n > 20000 and n % 2 = 0',
	late: 'n > 25000',
};

before(async () => {
	database = await testDatabase();
	client = new pg.Client({ connectionString: database.url });
	await client.connect();
	door = doorTo(database.url);
	const has = Object.entries(codes).map(([code, when]) => `case when ${when} then '${code}' end`);
	await client.query(`
		create temp table given as
		select n, ('00000000-0000-4000-8000-' || lpad(n::text, 12, '0'))::uuid as id, array_remove(array[${has.join(', ')}], null) as codes
		from generate_series(1, ${count}) n`);
	await client.query(
		`insert into observation (site_id, id, version, last_updated, resource, status, code_value)
		select $1, id, 1, timestamptz '2026-01-01' + n * 7919 % ${count} * interval '1 minute',
			json_build_object('status', 'final', 'code', json_build_object('coding', (select json_agg(json_build_object('code', c)) from unnest(codes) c)))::text, 'final', case when n % 1000 = 3 then 'rare' else 'k' || n % 5 end
		from given`,
		[siteId],
	);
	await client.query(
		`insert into search_entry (site_id, resource_type, id, terms)
		select $1, 'Observation', id, array(select tributary_term(E'Observation.combo-code\\x01c' || c) from unnest(codes) c) from given`,
		[siteId],
	);
	await client.query(
		`insert into search_progress (site_id, resource_type, until, definition) values ($1, 'Observation', '2026-12-31', '')`,
		[siteId],
	);
	await client.query('analyze');
});

after(async () => {
	await client.end();
	await door.close();
	await database[Symbol.asyncDispose]();
});

function planOf(query: string, page = 20, type: ResourceType = 'Observation'): SearchPlan {
	const definition = definitionOf(type) ?? assert.fail();
	const { plan } = parseSearch(definition, query, { limits: defaultLimits, lenient: false, base: 'http://h/fhir', scopes: undefined });
	return { ...plan, count: page, after: undefined };
}

/** The ids of the first pages. */
async function pagesOf(query: string, page: number, most: number, type: ResourceType = 'Observation'): Promise<string[]> {
	const ids: string[] = [];
	let next: SearchPlan['after'];
	do {
		const found = await searchResources(door.reads, siteId, { ...planOf(query, page, type), after: next }, 100_000_000);
		ids.push(...found.rowIds);
		next = found.next;
	} while (next !== undefined && ids.length < most);
	return ids;
}

async function expected(code: string, order: string): Promise<string[]> {
	const { rows } = await client.query(
		`select id from observation join given using (id) where site_id = $1 and codes @> array[$2] order by ${order}`,
		[siteId, code],
	);
	return rows.map(({ id }) => id as string);
}

/** Rows that the scans of a statement read. */
async function rowsRead(query: string): Promise<number> {
	const { rows } = await client.query(`explain (analyze, format json) ${inlined(searchQuery(siteId, planOf(query), 10_000_000))}`);
	const read = (node: PlanNode) => ((node['Actual Rows'] ?? 0) + (node['Rows Removed by Filter'] ?? 0)) * (node['Actual Loops'] ?? 0);
	const scans = nodesOf(rows[0]['QUERY PLAN'][0].Plan).filter((node) =>
		/^(Seq|Index|Index Only|Bitmap Heap) Scan$/.test(node['Node Type']),
	);
	return scans.reduce((sum, node) => sum + read(node), 0);
}

describe('a search by the index of elements', () => {
	for (const code of Object.keys(codes)) {
		test(`finds what ${code} have, page by page, in both orders`, async () => {
			for (const page of [7, 250]) {
				const most = page * 6;
				for (const [query, order] of [
					[`combo-code=${code}`, 'id'],
					[`combo-code=${code}&_sort=-_lastUpdated`, 'last_updated desc, id desc'],
				] as const) {
					const ids = await pagesOf(query, page, most);
					assert.deepEqual(ids, (await expected(code, order)).slice(0, ids.length), query);
					assert.ok(ids.length >= Math.min(most, (await expected(code, order)).length), query);
				}
			}
		});
	}

	for (const [code, combo] of [
		['k3', 'tenth'],
		['k3', 'late'],
		['k2', 'early'],
		['k1', 'one'],
		['rare', 'tenth'],
		['rare', 'late'],
	] as const) {
		test(`and by another one finds what has ${code} and ${combo}`, async () => {
			const { rows } = await client.query(
				`select id from observation join given using (id) where site_id = $1 and codes @> array[$2] and code_value = $3 order by id`,
				[siteId, combo, code],
			);
			const all = rows.map(({ id }) => id as string);
			const ids = await pagesOf(`code=${code}&combo-code=${combo}`, 50, 300);
			assert.deepEqual(ids, all.slice(0, ids.length));
			assert.ok(ids.length >= Math.min(300, all.length));
			const latest = await pagesOf(`code=${code}&combo-code=${combo}&_sort=-_lastUpdated`, 5000, 5000);
			assert.deepEqual(latest.toSorted(), all.slice(0, 5001).toSorted());
		});
	}

	test('reads a few hundred rows where many match or few do', async () => {
		for (const query of ['all', 'tenth', 'few', 'one', 'none', 'all&_sort=-_lastUpdated', 'tenth&_sort=_lastUpdated']) {
			const read = await rowsRead(`combo-code=${query}`);
			assert.ok(read < 3000, `${query}: ${read}`);
		}
	});

	test('finds what was written since, and what was changed since in its place', async () => {
		await client.query('begin');
		const later = '00000000-0000-4000-8000-000000000010';
		await client.query(
			`update observation set last_updated = '2027-01-01', resource = '{"code":{"coding":[{"code":"one"}]}}' where site_id = $1 and id = $2`,
			[siteId, later],
		);
		await client.query('commit');
		assert.deepEqual(await pagesOf('combo-code=one', 7, 10), [later, ...(await expected('one', 'id'))]);
		assert.ok(!(await pagesOf('combo-code=all', 20, 20)).includes(later));
	});

	test('finds all while the index is far behind', async () => {
		await client.query(`update search_progress set until = '2026-01-05' where site_id = $1`, [siteId]);
		for (const code of ['tenth', 'few', 'late']) {
			const ids = await pagesOf(`combo-code=${code}`, 20, 60);
			const all = (await expected(code, 'id')).filter((id) => !id.endsWith('000010'));
			assert.deepEqual(ids, all.slice(0, ids.length), code);
		}
	});
});

describe('a search by a name', () => {
	const names: Readonly<Record<string, string>> = {
		smith: 'true',
		abel: 'n % 10 = 3',
		iwata: 'n % 500 = 77',
		xyzzy: 'n = 7999',
		early: 'n < 9 or n > 7000',
	};

	before(async () => {
		const has = Object.entries(names).map(([name, when]) => `case when ${when} then 'van ${name}sen' end`);
		await client.query(
			`insert into patient (site_id, id, version, last_updated, resource, name)
			select $1, ('00000000-0000-4000-8000-' || lpad(n::text, 12, '0'))::uuid, 1, now(), json_build_object('name', json_build_array(json_build_object('family', x)))::text, x
			from generate_series(1, 8000) n cross join lateral (select concat_ws(' ', ${has.join(', ')}) as x) t`,
			[siteId],
		);
		await client.query('analyze patient');
	});

	for (const name of [...Object.keys(names), 'it', 'none', 'van smithsen van abel', '%']) {
		test(`finds all that have '${name}' in it, page by page`, async () => {
			const { rows } = await client.query('select id from patient where site_id = $1 and strpos(name, $2) > 0 order by id', [siteId, name]);
			const all = rows.map(({ id }) => id as string);
			for (const page of [7, 400]) {
				const ids = await pagesOf(`name=${encodeURIComponent(name)}`, page, page * 5, 'Patient');
				assert.deepEqual(ids, all.slice(0, ids.length));
				assert.ok(ids.length >= Math.min(page * 5, all.length));
			}
		});
	}

	test('finds the same where there is one site alone, and nothing of others', async () => {
		await client.query(`insert into site (id, slug, name) values ($1, 'only', 'Only')`, [siteId]);
		await client.query(
			`insert into patient (site_id, id, version, last_updated, resource, name) select $1, id, 1, now(), resource, name from patient where site_id = $2 limit 50`,
			[newId(), siteId],
		);
		for (const name of ['abel', 'iwata', 'xyzzy', 'none']) {
			const { rows } = await client.query('select id from patient where site_id = $1 and strpos(name, $2) > 0 order by id', [siteId, name]);
			const ids = await pagesOf(`name=${name}`, 400, 2000, 'Patient');
			assert.deepEqual(ids, rows.map(({ id }) => id as string).slice(0, ids.length));
			assert.equal(ids.length, Math.min(rows.length, 2000));
		}
	});

	test('by its start finds the family names that start so', async () => {
		assert.equal((await pagesOf('family=van smith', 50, 100, 'Patient')).length, 100);
		assert.deepEqual(await pagesOf('family=xyzzy', 50, 100, 'Patient'), []);
		assert.equal((await pagesOf('family:contains=xyzzy', 50, 100, 'Patient')).length, 1);
	});
});
