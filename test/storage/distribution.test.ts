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
import { statementsByFilters } from '#test/support/filtered-statements.ts';
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

	test('what people change by the unit of work is in reference tables', () => {
		const entities = globSync('src/storage/entities/*.ts', { cwd: root }).flatMap((path) =>
			[...readFileSync(join(root, path), 'utf8').matchAll(/tableName: '(\w+)'/g)].map(([, name = '']) => name),
		);
		assert.ok(entities.length > 5);
		assert.deepEqual(
			entities.filter((name) => referenceTables[name] === undefined),
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

/** A block of PL/pgSQL has no plan. Those that there are concern the catalogue. */
const isBlock = (text: string) => /^\s*do \$\$/.test(text);

/** Modules of storage without statements of their own, or with such as are no matter of the site. */
const notLookedAt = /src\/storage\/(?:migrations|entities|embedded|objects)\//;

/** The statements that modules of storage export, those that they make for each type or by filters, and those that they keep to themselves. */
async function statements(): Promise<Map<string, Statement>> {
	const found = new Map<string, Statement>();
	const isStatement = (given: unknown): given is { name?: string; text: string } =>
		typeof given === 'object' && given !== null && 'text' in given && typeof given.text === 'string';
	const take = (given: unknown, name: string, depth = 0) => {
		if (isStatement(given) && !isBlock(given.text)) found.set(given.text, { name: given.name ?? name, text: given.text });
		else if (typeof given === 'object' && given !== null && !isStatement(given) && depth < 3) {
			for (const [key, each] of Object.entries(given)) take(each, `${name}.${key}`, depth + 1);
		}
	};
	const made = new ResourceTables(tableShapes);
	const of = [...Object.values(tableShapes), ...made.all(), Object.values(tableShapes)];
	for (const path of globSync('src/storage/**/*.ts', { cwd: root })) {
		if (notLookedAt.test(path)) continue;
		const source = readFileSync(join(root, path), 'utf8');
		for (const [, name = '', text = ''] of source.matchAll(
			/^const \w+: (?:Read)?Statement = \{\s+name: '(\w+)',\s+text: ['`]((?<=')[^'$]*(?:\$\d[^'$]*)*(?=')|(?<=`)[^`$]*(?:\$\d[^`$]*)*(?=`))/gm,
		))
			take({ name, text }, name);
		const exported: Record<string, unknown> = await import(join(root, path));
		for (const [name, each] of Object.entries(exported)) {
			take(each, name);
			if (typeof each !== 'function' || each.length !== 1 || (!path.includes('/statements/') && !path.includes('/holdings/'))) continue;
			for (const argument of of) {
				const made = madeOf(each as (argument: unknown) => unknown, argument);
				if (isStatement(made) && (await isValid(made.text))) take(made, name);
			}
		}
	}
	for (const each of statementsByFilters(siteId)) take(each, each.name);
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

/** The statements that are about all sites on purpose, or that are asked before the site is known, by the reason. */
const ofAllSites: Readonly<Record<string, string>> = Object.fromEntries(
	Object.entries({
		'the index of elements follows the turns of all sites': ['read_turns_to_index'],
		'a process writes what waits in it for all sites, and forgets what no longer waits': ['set_feed_queues'],
		'the chains of the audit trail go through all sites': [
			...['read_unlinked_audit_events', 'read_linked_audit_events', 'read_stray_audit_event', 'count_unlinked_audit_events'],
			...['read_unsent_audit_events', 'count_removable_audit_events'],
		],
		'one legal hold on anything keeps the audit trail, which goes by whole months': ['audit_keep_days'],
		'a node finds its own work, or what is due or over, at all sites': [
			...['interrupt_bulk_jobs_of_node', 'interrupt_silent_bulk_jobs', 'delete_old_bulk_jobs', 'list_bulk_jobs_of_node'],
			...['claim_commitments', 'delete_old_commitments', 'delete_expired_searches'],
		],
		'the store of objects is one for all sites, and is gone through as a whole': [
			...['indexed_objects', 'known_objects', 'conflicts_to_move', 'instances_to_move', 'conflict_objects'],
		],
		'the configuration is a file of the network': ['list_all_aliases'],
		'people name a row by its id alone': ['show_conflict', 'legal_hold_by_id'],
		'the audit trail is shown for all sites, and the patient of a filter is named by its id alone': [
			...['undefined', 'associations', 'changes'].flatMap((part) => [
				...[`list_audit_${part}_true`, `list_audit_${part}_false`, `audit_histogram_${part}`],
			]),
		],
	}).flatMap(([reason, names]) => names.map((name) => [name, reason])),
);

/** Those of them that read several tables of all sites, one after the other: rows of one site never meet those of another. */
const separately: ReadonlySet<string> = new Set(['known_objects', 'audit_histogram_undefined']);

/** Texts of parameters, of which one is valid for a statement: some are read as times, as digits or as JSON. */
const texts = ['1', '2026-01-01', '00', '{}'];

/** Its texts are digits, JSON and arrays, and no text is all of these. Without the form they are arrays of texts. */
const withoutSample = 'write_audit_batch_of_one';

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
const bySiteOfAnotherRow = /\bsite_id = \(*(?:(?:\w+|"[^"]+")\.\w+|site_id\b|'[\da-f-]{36}'|\$\d|ANY)|\b\w+\.\w+ = (?:\w+\.)?site_id\b/;
/** This branch of a search is carried out only in a database of one site, and so of one partition. */
const ofOnlySite = /site_id = [^)]*\) IS TRUE/;

interface Scan {
	/** The name of the table in the statement. */
	alias: string;
	/** The same for all rows of a site, whatever the table. */
	partition: string;
}

/** Conditions of a node that `explain` tells beside those of every node. */
interface Conditions {
	Alias?: string;
	'Recheck Cond'?: string;
	'Join Filter'?: string;
}

/** The partitions that a plan reads without knowing the site of their rows. */
function scansOf(plan: PlanNode): Scan[] {
	const nodes: (PlanNode & Conditions)[] = nodesOf(plan);
	const joined = nodes.map((node) => node['Join Filter'] ?? '').join(' ');
	return nodes.flatMap((node) => {
		const conditions = `${node['Index Cond'] ?? ''} ${node.Filter ?? ''} ${node['Recheck Cond'] ?? ''}`;
		const [, partition] = /_of_(\d)$/.exec(node['Relation Name'] ?? '') ?? [];
		if (partition === undefined || ofOnlySite.test(conditions) || bySiteOfAnotherRow.test(conditions)) return [];
		const alias = (node.Alias ?? '').replace(/_\d+$/, '');
		// A join of empty tables may compare the sites instead of asking an index for one.
		const isJoined = new RegExp(`\\b${alias}(?:_\\d+)?\\.site_id = |= ${alias}(?:_\\d+)?\\.site_id\\b`).test(joined);
		return isJoined ? [] : { alias, partition };
	});
}

const partitionsOf = (plan: PlanNode) => new Set(scansOf(plan).map(({ partition }) => partition));

describe('in partitions by the site', () => {
	let all: Statement[];
	before(async () => {
		all = [...(await statements()).values()];
		await distribute(client, distributed);
		for (const setting of ['enable_seqscan', 'enable_hashjoin', 'enable_mergejoin']) await client.query(`set ${setting} = off`);
		await client.query('set plan_cache_mode = force_custom_plan');
	});

	test('every statement about one site touches one partition, and none joins rows of several sites', async () => {
		const faults: string[] = [];
		const listed = new Set<string>();
		let touching = 0;
		// Lanes send a lone row in a form of its own.
		const forms = all.flatMap((statement) => formOf(statement)?.statement ?? []);
		for (const { name, text } of [...all, ...forms]) {
			if (name.endsWith('_of_one') && (name === withoutSample || !(await isValid(text)))) continue;
			try {
				const plan = await planOf(text);
				const scans = scansOf(plan);
				const whole = name.replace(/_of_one$/, '');
				const reason = ofAllSites[whole];
				if (reason !== undefined) listed.add(whole);
				const aliases = [...new Set(scans.map(({ alias }) => alias))];
				if (partitionsOf(plan).size > 1 && reason === undefined) faults.push(`${name} touches several partitions: ${aliases.join(', ')}`);
				if (aliases.length > 1 && reason !== undefined && !separately.has(whole)) faults.push(`${name} joins sites: ${aliases.join(', ')}`);
				if (nodesOf(plan).some((node) => /_of_\d$/.test(node['Relation Name'] ?? ''))) touching++;
			} catch (error) {
				faults.push(`${name}: ${(error as Error).message}`);
			}
		}
		assert.deepEqual(faults, []);
		assert.deepEqual(
			Object.keys(ofAllSites).filter((name) => !listed.has(name)),
			[],
		);
		assert.ok(touching > 150, `${touching} of ${all.length} statements touch a table of a site`);
	});

	/** They read no table: they begin and end transactions, and make settings. */
	const withoutTable = ['begin', 'commit', 'rollback', 'settings_of_transaction'];

	test('every statement that has a name in the source is looked at, and no other has its name', () => {
		const known = new Set([...all.map(({ name }) => name), ...withoutTable]);
		const named = globSync('src/**/*.ts', { cwd: root }).flatMap((path) =>
			[...readFileSync(join(root, path), 'utf8').matchAll(/\bname: '(\w+)',\s+text: [`']?([^`']{0,20})/g)].map((match) => {
				const [, name = '', text = ''] = match;
				return { path, name, text };
			}),
		);
		const missing = named.filter(({ path, name, text }) => !notLookedAt.test(path) && !isBlock(text) && !known.has(name));
		assert.deepEqual(missing, []);
		const names = named.map(({ name }) => name);
		assert.deepEqual(
			names.filter((name, index) => names.indexOf(name) !== index),
			[],
		);
	});

	test('every search touches one partition', async () => {
		const faults: string[] = [];
		for (const definition of Object.values(resources)) {
			for (const query of queriesOf(definition)) {
				const { plan } = parseSearch(definition, query, { limits: defaultLimits, lenient: true, base: 'http://h/fhir', scopes: undefined });
				for (const made of [
					searchQuery(siteId, { ...plan, after: undefined }, 1_000_000),
					searchQuery(siteId, { ...plan, after: undefined }, 1_000_000, 'bounded'),
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
