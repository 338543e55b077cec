import assert from 'node:assert/strict';
import { test } from 'node:test';
import pg from 'pg';
import { nilId } from '#core/id.ts';
import { silentLog } from '#core/log.ts';
import { tableShapes } from '#fhir/resources/index.ts';
import { keyedPlans } from '#storage/connection.ts';
import { findReports, findReportsOfStudies } from '#storage/holdings/diagnostic-reports.ts';
import { findDocumentBinaries } from '#storage/holdings/document-binaries.ts';
import { findDocumentEntries, findDocumentOwners, findDocuments, findStatedItems } from '#storage/holdings/documents.ts';
import { findInstances, findStudies, findStudiesByAccession } from '#storage/holdings/imaging.ts';
import { findObservations } from '#storage/holdings/orders.ts';
import { findPatients, findSurvivors } from '#storage/holdings/patient-identifiers.ts';
import { findPeopleAndPlaces } from '#storage/holdings/people-and-places.ts';
import { findProcedureSteps } from '#storage/holdings/procedure-steps.ts';
import { findEncounters, findEncountersOfPatients, findOpenEncounters } from '#storage/holdings/visits.ts';
import { formOf } from '#storage/one-row.ts';
import { ResourceTables } from '#storage/resource-rows.ts';
import type { Statement } from '#storage/statement.ts';
import { findAccepted } from '#storage/statements/find-accepted.ts';
import { keepStoredVersions } from '#storage/statements/keep-versions.ts';
import { analyzeGrownTables, forgetEmptyTables, keepTables } from '#storage/table-upkeep.ts';
import { testDatabase } from '#test/support/database.ts';
import { ManualTimers } from '#test/support/manual-timers.ts';

const tables = new ResourceTables(tableShapes);

const byKeyOfTheSender = [
	findAccepted,
	findDocuments(tables.of('DocumentReference')),
	findDocumentOwners,
	findDocumentEntries,
	findStatedItems,
	findEncounters(tables.of('Encounter')),
	findEncountersOfPatients(tables.of('Encounter')),
	findOpenEncounters(tables.of('Encounter')),
	findInstances,
	findStudies,
	findStudiesByAccession,
	findReports(tables.of('DiagnosticReport')),
	findReportsOfStudies(tables.of('DiagnosticReport')),
	findObservations(tables.of('Observation')),
	findPatients(tables.of('Patient')),
	findSurvivors(tables.of('Patient')),
	findProcedureSteps,
	findPeopleAndPlaces(tables.of('ServiceRequest')),
	findDocumentBinaries,
];

/** Runs work on a client of a new database. */
async function withClient(options: string, work: (client: pg.Client) => Promise<void>): Promise<void> {
	await using database = await testDatabase();
	const client = new pg.Client({ connectionString: database.url, options });
	await client.connect();
	try {
		await work(client);
	} finally {
		await client.end();
	}
}

/** A value of every type of a parameter. */
const anyOf = (type: string) => {
	if (type.endsWith('[]')) return "'{}'";
	if (type === 'uuid') return `'${nilId}'`;
	return type.startsWith('timestamp') ? 'now()' : "'1'";
};

/** The statement as it is sent for many rows, and for one. */
const formsOf = (statement: Statement) => [statement, formOf(statement)?.statement].filter((form) => form !== undefined);

/** Returns the lines of the plan that is made for a statement before its values are known. */
async function plannedFor(client: pg.Client, text: string): Promise<string[]> {
	await client.query(`prepare looked_up as ${text}`);
	const { rows: prepared } = await client.query<{ types: string[] }>(
		"select parameter_types::text[] as types from pg_prepared_statements where name = 'looked_up'",
	);
	const parameters = (prepared[0]?.types ?? []).map(anyOf).join(', ');
	const { rows } = await client.query<{ 'QUERY PLAN': string }>(`explain execute looked_up (${parameters})`);
	await client.query('deallocate looked_up');
	return rows.map((row) => row['QUERY PLAN']);
}

/** Looks at the plan of each statement: every condition on an index has more than the site. */
async function lookedUpByWholeKey(client: pg.Client): Promise<void> {
	for (const { name, text } of byKeyOfTheSender.flatMap(formsOf)) {
		const plan = await plannedFor(client, text);
		const conditions = plan.filter((line) => line.includes('Index Cond:'));
		assert.ok(conditions.length > 0, `${name}\n${plan.join('\n')}`);
		for (const condition of conditions) assert.match(condition, / AND /, `${name}\n${plan.join('\n')}`);
	}
}

test('what a message names is looked up by its whole key in a new database, never by the site alone', () =>
	withClient(keyedPlans, async (client) => {
		await lookedUpByWholeKey(client);
	}));

test('it is so, too, after somebody has analyzed tables while they were empty', () =>
	withClient(keyedPlans, async (client) => {
		await client.query('vacuum analyze');
		await assert.rejects(lookedUpByWholeKey(client), assert.AssertionError);
		await client.query(forgetEmptyTables.text);
		await lookedUpByWholeKey(client);
	}));

test('a table that has grown is analyzed, once, though autovacuum does not know of it', () =>
	withClient('', async (client) => {
		const statistics = async () => {
			const { rows } = await client.query<{ expected: number; analyzed: string }>(
				`select c.reltuples::integer as expected, s.analyze_count::text as analyzed from pg_class c join pg_stat_all_tables s on s.relid = c.oid
				  where c.oid = 'search_entry'::regclass`,
			);
			return rows[0];
		};
		await client.query('alter table search_entry set (autovacuum_enabled = off)');
		await client.query(analyzeGrownTables.text);
		assert.deepEqual(await statistics(), { expected: -1, analyzed: '0' }, 'an empty table has not grown');
		await client.query(
			`insert into search_entry (site_id, resource_type, id, terms)
			 select $1, 'Observation', gen_random_uuid(), array[n::bigint] from generate_series(1, 20000) n`,
			[nilId],
		);
		await client.query(analyzeGrownTables.text);
		await client.query(analyzeGrownTables.text);
		await client.query('select pg_stat_force_next_flush()');
		assert.deepEqual(await statistics(), { expected: 20_000, analyzed: '1' });
	}));

test('tables are analyzed by one round at a time, and the end waits for it', async () => {
	const timers = new ManualTimers();
	const answers: (() => void)[] = [];
	const database = {
		run: ({ name }: Statement) =>
			new Promise<[]>((resolve) => {
				if (name === analyzeGrownTables.name) answers.push(() => resolve([]));
				else resolve([]);
			}),
	};
	const tables = keepTables({ database, log: silentLog, timers });
	const nextOfAll = () => timers.advance(3_600_000);
	await nextOfAll();
	assert.equal(answers.length, 1, 'the round at the start is under way');
	answers[0]?.();
	await new Promise((resolve) => setImmediate(resolve));
	await nextOfAll();
	assert.equal(answers.length, 2);
	let hasEnded = false;
	const ended = tables.close().then(() => {
		hasEnded = true;
	});
	await new Promise((resolve) => setImmediate(resolve));
	assert.ok(!hasEnded);
	answers[1]?.();
	await ended;
});

test('a message with a visit number reads no open visit that has one, however many its patient has', () =>
	withClient(keyedPlans, async (client) => {
		const { text } = findEncounters(tables.of('Encounter'));
		const { rows } = await client.query<{ 'QUERY PLAN': string }>(`explain ${text}`, ['{}', '{}', '{}', '{}', '{}']);
		const plan = rows.map((row) => row['QUERY PLAN']).join('\n');
		assert.match(plan, /Index Scan using encounter_unnumbered/, plan);
		assert.doesNotMatch(plan, /encounter_open/, plan);
	}));

test('rows are looked up by their primary key in a new database, too, of which the planner knows nothing yet', () =>
	withClient(keyedPlans, async (client) => {
		for (const { shape, byId } of tables.all()) {
			for (const { text } of [byId, keepStoredVersions(shape)].flatMap(formsOf)) {
				const plan = (await plannedFor(client, text)).join('\n');
				assert.match(plan, new RegExp(`Index Scan using ${shape.keptIn}_pkey`), plan);
			}
		}
	}));

test('no search reads a long list of entries that a GIN index has not sorted in yet', () =>
	withClient('', async (client) => {
		const { rows } = await client.query<{ index: string; options: string[] | null }>(
			"select c.relname as index, c.reloptions as options from pg_class c join pg_am a on a.oid = c.relam and a.amname = 'gin' where c.relkind = 'i'",
		);
		assert.ok(rows.length > 10);
		const isShort = (options: readonly string[]) =>
			['fastupdate=off', 'gin_pending_list_limit=512', 'gin_pending_list_limit=64'].some((option) => options.includes(option));
		assert.deepEqual(
			rows.filter(({ options }) => !isShort(options ?? [])).map(({ index }) => index),
			[],
		);
	}));
