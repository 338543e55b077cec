import assert from 'node:assert/strict';
import { globSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import pg from 'pg';
import { nilId } from '#core/id.ts';
import type { ResourceDefinition } from '#fhir/resource.ts';
import { resources, tableShapes } from '#fhir/resources/index.ts';
import { parseSearch } from '#fhir/search/parse.ts';
import { formOf } from '#storage/one-row.ts';
import { ResourceTables } from '#storage/resource-rows.ts';
import type { Statement } from '#storage/statement.ts';
import { inlined } from '#storage/statements/inlined.ts';
import { countQuery, searchQuery } from '#storage/statements/search-resources.ts';
import { type TestDatabase, testDatabase } from '#test/support/database.ts';
import { type CataloguedTable, catalogue, distribute, referenceTables } from '#test/support/distribution.ts';
import { nodesOf, type PlanNode } from '#test/support/plan.ts';
import { defaultLimits } from '../../src/limits.ts';

const siteId = '00000000-0000-4000-8000-000000000001';
const root = join(import.meta.dirname, '../..');

let database: TestDatabase;
let client: pg.Client;
let tables: CataloguedTable[];
let distributed: CataloguedTable[];

before(async () => {
	database = await testDatabase();
	client = new pg.Client({ connectionString: database.url });
	await client.connect();
	tables = await catalogue(client);
	distributed = tables.filter(({ name }) => referenceTables[name] === undefined);
});

after(async () => {
	await client.end();
	await database[Symbol.asyncDispose]();
});

describe('the catalogue', () => {
	test('every table is distributed by the site, or a reference table with a reason', () => {
		const names = tables.map(({ name }) => name);
		assert.deepEqual(
			Object.keys(referenceTables).filter((name) => !names.includes(name)),
			[],
		);
		assert.deepEqual(
			distributed.filter(({ hasSite }) => !hasSite).map(({ name }) => name),
			[],
		);
	});

	test('the site leads every primary key and unique index of a distributed table', () => {
		const keys = distributed.flatMap(({ name, key, uniques }) => [key, ...uniques].map((columns) => ({ name, columns })));
		assert.deepEqual(
			keys.filter(({ columns }) => columns[0] !== 'site_id'),
			[],
		);
	});

	test('a reference of a distributed table leads to a reference table, and none leads the other way', () => {
		const references = tables.flatMap(({ name, references }) => references.map(({ to }) => `${name} → ${to}`));
		const isReference = (name = '') => referenceTables[name] !== undefined;
		assert.deepEqual(
			references.filter((each) => !isReference(each.split(' → ')[1])),
			[],
		);
	});

	test('docs/scaling.md has the calls; `UPDATE_CONFORMANCE=1` writes them', () => {
		const path = join(root, 'docs/scaling.md');
		const text = readFileSync(path, 'utf8');
		const first = 'site_turn';
		const calls = [
			...Object.keys(referenceTables)
				.sort((a, b) => Number(b === 'site' || b === 'app_user') - Number(a === 'site' || a === 'app_user') || a.localeCompare(b))
				.map((name) => `select create_reference_table('${name}');`),
			`select create_distributed_table('${first}', 'site_id');`,
			...distributed.flatMap(({ name }) =>
				name === first ? [] : [`select create_distributed_table('${name}', 'site_id', colocate_with => '${first}');`],
			),
		];
		const written = text.replace(/(<!-- calls -->\n```sql\n)[\s\S]*?(```\n)/, (_all, head, tail) => `${head}${calls.join('\n')}\n${tail}`);
		if (process.env['UPDATE_CONFORMANCE'] === '1') return writeFileSync(path, written);
		assert.equal(text, written);
	});
});

/** The statements that modules of storage export, those that they make for each type, and those that they keep to themselves. */
async function statements(): Promise<Map<string, Statement>> {
	const found = new Map<string, Statement>();
	const isStatement = (given: unknown): given is Statement =>
		typeof given === 'object' && given !== null && 'name' in given && 'text' in given && typeof given.text === 'string';
	const take = (given: unknown) => {
		if (isStatement(given)) found.set(given.text, given);
	};
	const made = new ResourceTables(tableShapes);
	for (const path of globSync('src/storage/{statements,holdings}/*.ts', { cwd: root })) {
		const source = readFileSync(join(root, path), 'utf8');
		for (const [, name = '', text = ''] of source.matchAll(
			/^const \w+: Statement = \{\s+name: '(\w+)',\s+text: `([^`$]*(?:\$\d[^`$]*)*)`/gm,
		))
			take({ name, text });
		const exported: Record<string, unknown> = await import(join(root, path));
		for (const each of Object.values(exported)) {
			take(each);
			if (typeof each !== 'function' || each.length !== 1) continue;
			for (const argument of [...Object.values(tableShapes), ...made.all()]) {
				const made = madeOf(each as (argument: unknown) => unknown, argument);
				if (isStatement(made) && (await isValid(made.text))) take(made);
			}
		}
	}
	return found;
}

/** @returns undefined if the function makes nothing of a table */
function madeOf(make: (argument: unknown) => unknown, argument: unknown): unknown {
	try {
		return make(argument);
	} catch {
		return undefined;
	}
}

/** A function makes no SQL of an argument that is not its own. */
async function isValid(text: string): Promise<boolean> {
	try {
		await client.query(`prepare made as ${text}`);
		await client.query('deallocate made');
		return true;
	} catch {
		return false;
	}
}

/** Statements about all sites on purpose, and why. */
const ofAllSites: readonly [RegExp, string][] = [
	[/^read_turns_to_index$/, 'the index of elements follows the turns of all sites'],
	[/^set_feed_queues$/, 'a process writes what waits in it for all sites, and forgets what no longer waits'],
];

/** Texts of parameters, of which one is valid for a statement: some are read as times or as JSON. */
const texts = ['1', '2026-01-01', '{}'];

const sampleOf = (type: string, text: string): string => {
	if (type === 'uuid[]') return `'{${siteId}}'`;
	if (type === 'text[]') return `array['${text}']`;
	if (type.endsWith('[]')) return `'{${/^(timestamp|date)/.test(type) ? '2026-01-01' : '1'}}'`;
	if (type === 'uuid') return `'${siteId}'`;
	if (type === 'text') return `'${text}'`;
	if (type === 'json' || type === 'jsonb') return `'{}'`;
	return type === 'date' || type.startsWith('timestamp') ? 'now()' : "'1'";
};

async function planOf(text: string): Promise<PlanNode> {
	await client.query(`prepare of_site as ${text}`);
	try {
		const { rows } = await client.query<{ types: string[] }>(
			"select parameter_types::text[] as types from pg_prepared_statements where name = 'of_site'",
		);
		const types = rows[0]?.types ?? [];
		let refused: unknown;
		for (const sample of texts) {
			const values = types.map((type) => sampleOf(type, sample)).join(', ');
			try {
				const planned = await client.query(`explain (format json) execute of_site${values === '' ? '' : ` (${values})`}`);
				return planned.rows[0]['QUERY PLAN'][0].Plan;
			} catch (error) {
				refused = error;
			}
		}
		throw refused;
	} finally {
		await client.query('deallocate of_site');
	}
}

/**
 * Rows that are looked up by the site of another row lie in the partition of that row, and a site that is known only when the statement runs
 * excludes the other partitions then.
 */
const bySiteOfAnotherRow = /\bsite_id = \(*(?:\w+\.site_id\b|'[\da-f-]{36}'|\$\d|ANY)|\b\w+\.site_id = (?:\w+\.)?site_id\b/;
/** This branch of a search is carried out only in a database of one site, and so of one partition. */
const ofOnlySite = /site_id = [^)]*\) IS TRUE/;

/** The partitions that a plan may touch, by their number: it is the same for all rows of a site, whatever the table. */
function partitionsOf(plan: PlanNode): Set<string> {
	const touched = nodesOf(plan).flatMap((node) => {
		const conditions = `${node['Index Cond'] ?? ''} ${node.Filter ?? ''} ${(node as { 'Recheck Cond'?: string })['Recheck Cond'] ?? ''}`;
		const [, number] = /_of_(\d)$/.exec(node['Relation Name'] ?? '') ?? [];
		return number === undefined || ofOnlySite.test(conditions) || bySiteOfAnotherRow.test(conditions) ? [] : number;
	});
	return new Set(touched);
}

describe('in partitions by the site', () => {
	before(async () => {
		await distribute(client, distributed);
		for (const setting of ['enable_seqscan', 'enable_hashjoin', 'enable_mergejoin']) await client.query(`set ${setting} = off`);
		await client.query('set plan_cache_mode = force_custom_plan');
	});

	test('every statement about one site touches one partition', async () => {
		const faults: string[] = [];
		const all = [...(await statements()).values()];
		let touching = 0;
		for (const statement of all) {
			const { name, text } = formOf(statement)?.statement ?? statement;
			if (ofAllSites.some(([pattern]) => pattern.test(name))) continue;
			try {
				const plan = await planOf(text);
				const touched = partitionsOf(plan);
				if (touched.size > 1) faults.push(`${name} touches ${touched.size}`);
				if (nodesOf(plan).some((node) => /_of_\d$/.test(node['Relation Name'] ?? ''))) touching++;
			} catch (error) {
				faults.push(`${name}: ${(error as Error).message}`);
			}
		}
		assert.deepEqual(faults, []);
		assert.ok(touching > 150, `${touching} of ${all.length} statements touch a table of a site`);
	});

	test('every search touches one partition', async () => {
		const faults: string[] = [];
		for (const definition of Object.values(resources)) {
			for (const query of queriesOf(definition)) {
				const { plan } = parseSearch(definition, query, { limits: defaultLimits, lenient: true, base: 'http://h/fhir', scopes: undefined });
				for (const made of [
					searchQuery(siteId, { ...plan, after: undefined }, 1_000_000),
					countQuery(siteId, { ...plan, after: undefined }),
				]) {
					const { rows } = await client.query(`explain (format json) ${inlined(made)}`);
					const touched = partitionsOf(rows[0]['QUERY PLAN'][0].Plan);
					if (touched.size > 1) faults.push(`${definition.type}?${query} touches ${touched.size}`);
				}
			}
		}
		assert.deepEqual(faults, []);
	});
});

const samples: Readonly<Record<string, string>> = {
	token: 'rare',
	string: 'Rarely',
	date: '2031-05-05',
	quantity: '53.27',
	number: '53.27',
	uri: 'http://example.org/rare',
};

/** One parameter of each sort is enough for a type whose rows share a table with others, because they are made alike. */
function queriesOf({ search, table }: ResourceDefinition): string[] {
	const seen = new Set<string>();
	return Object.entries(search).flatMap(([name, parameter]) => {
		if (table.isShared && seen.has(parameter.type)) return [];
		seen.add(parameter.type);
		if (parameter.type === 'reference') return [`${name}=${parameter.targets[0] ?? 'Patient'}/${nilId}`];
		const sample = samples[parameter.type];
		return sample === undefined ? [] : [`${name}=${sample}`];
	});
}
