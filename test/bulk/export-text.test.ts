import assert from 'node:assert/strict';
import { test } from 'node:test';
import { tableShapes } from '#fhir/resources/index.ts';
import { exportResources } from '#storage/statements/export-resources.ts';

test('the statement of an export takes nothing but a UUID and a number into its text', () => {
	const scope = { siteId: "'; drop table patient; --", sinceMs: undefined, patientsOnly: false };
	assert.throws(() => exportResources(tableShapes.Patient, scope), /UUID/);
	const siteId = '019a0000-0000-7000-8000-000000000001';
	assert.match(exportResources(tableShapes.Patient, { siteId, sinceMs: 1.5, patientsOnly: false }), /to_timestamp\(1 \/ 1000\.0\)/);
});
