import assert from 'node:assert/strict';
import { test } from 'node:test';
import pg from 'pg';
import { tableShapes } from '#fhir/resources/index.ts';
import { keyedPlans } from '#storage/connection.ts';
import { findAccepted } from '#storage/statements/find-accepted.ts';
import { findDocumentEntries, findDocumentOwners, findDocuments, findStatedItems } from '#storage/statements/find-documents.ts';
import { findEncounters } from '#storage/statements/find-encounters.ts';
import { findInstances, findStudies, findStudiesByAccession } from '#storage/statements/find-imaging.ts';
import { findObservations } from '#storage/statements/find-observations.ts';
import { findPatients, findSurvivors } from '#storage/statements/find-patients.ts';
import { findReports, findReportsOfStudies } from '#storage/statements/find-reports.ts';
import { findRows } from '#storage/statements/find-rows.ts';
import { findSessions } from '#storage/statements/find-sessions.ts';
import { keepStoredVersions } from '#storage/statements/keep-versions.ts';
import { testDatabase } from '#test/support/database.ts';

const byKeyOfTheSender = [
	findAccepted,
	findDocuments(tableShapes.DocumentReference),
	findDocumentOwners,
	findDocumentEntries,
	findStatedItems,
	findEncounters,
	findInstances,
	findStudies,
	findStudiesByAccession,
	findReports(tableShapes.DiagnosticReport),
	findReportsOfStudies(tableShapes.DiagnosticReport),
	findObservations,
	findPatients,
	findSurvivors,
	findSessions,
];

test('what a message names is looked up by its whole key in a new database, never by the site alone', async () => {
	await using database = await testDatabase();
	const client = new pg.Client({ connectionString: database.url, options: keyedPlans });
	await client.connect();
	try {
		for (const { name, text } of byKeyOfTheSender) {
			await client.query(`prepare looked_up as ${text}`);
			const { rows: prepared } = await client.query<{ types: string[] }>(
				"select parameter_types::text[] as types from pg_prepared_statements where name = 'looked_up'",
			);
			const parameters = (prepared[0]?.types ?? []).map(() => "'{}'").join(', ');
			const { rows } = await client.query<{ 'QUERY PLAN': string }>(`explain execute looked_up (${parameters})`);
			const plan = rows.map((row) => row['QUERY PLAN']);
			const conditions = plan.filter((line) => line.includes('Index Cond:'));
			assert.ok(conditions.length > 0, `${name}\n${plan.join('\n')}`);
			for (const condition of conditions) assert.match(condition, / AND /, `${name}\n${plan.join('\n')}`);
			await client.query('deallocate looked_up');
		}
	} finally {
		await client.end();
	}
});

test('rows are looked up by their primary key in a new database, too, of which the planner knows nothing yet', async () => {
	await using database = await testDatabase();
	const client = new pg.Client({ connectionString: database.url, options: keyedPlans });
	await client.connect();
	try {
		for (const shape of Object.values(tableShapes).filter(({ isRendered }) => !isRendered)) {
			for (const { text } of [findRows(shape), keepStoredVersions(shape)]) {
				await client.query(`prepare looked_up as ${text}`);
				const { rows } = await client.query<{ 'QUERY PLAN': string }>(`explain execute looked_up ('{}', '{}')`);
				const plan = rows.map((row) => row['QUERY PLAN']).join('\n');
				assert.match(plan, new RegExp(`Index Scan using ${shape.table}_pkey`), plan);
				await client.query('deallocate looked_up');
			}
		}
	} finally {
		await client.end();
	}
});
