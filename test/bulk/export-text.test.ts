import assert from 'node:assert/strict';
import { test } from 'node:test';
import { tableShapes } from '#fhir/resources/index.ts';
import { exportResources } from '#storage/statements/export-resources.ts';

test('the statement of an export takes nothing but a UUID, a number and a plain URL into its text', () => {
	const base = 'http://localhost:8080/fhir';
	const scope = { siteId: "'; drop table patient; --", sinceMs: undefined, patientsOnly: false, base };
	assert.throws(() => exportResources(tableShapes.Patient, scope), /UUID/);
	const siteId = '019a0000-0000-7000-8000-000000000001';
	assert.match(exportResources(tableShapes.Patient, { siteId, sinceMs: 1.5, patientsOnly: false, base }), /to_timestamp\(1 \/ 1000\.0\)/);
	const of = (given: string) => () =>
		exportResources(tableShapes.DocumentReference, { siteId, sinceMs: undefined, patientsOnly: false, base: given });
	for (const given of ["http://a'b/fhir", 'http://a\\1/fhir', 'http://a/fhir?x', 'http://a b/fhir', 'ftp://a/fhir', 'http://a\n/fhir'])
		assert.throws(of(given), /base URL/, given);
	const all = { siteId, sinceMs: undefined, patientsOnly: true, base };
	const hostile = `\\'; drop table patient; -- $1 {"a"}`;
	const filtered = exportResources(tableShapes.Observation, {
		...all,
		patients: [siteId],
		clauses: [
			{ kind: 'code', column: 'status', values: [hostile] },
			{ kind: 'member', column: 'category', values: [hostile, 'x'] },
		],
	});
	// Without the quoted texts nothing of it is left.
	assert.match(filtered, new RegExp(`r\\.patient_id = any\\(E'\\{"${siteId}"\\}'::uuid\\[\\]\\)`));
	const unquoted = filtered.replace(/E'(?:[^'\\]|\\.)*'/g, '');
	assert.doesNotMatch(unquoted, /drop|\$\d/);
	assert.throws(
		() => exportResources(tableShapes.Observation, { ...all, clauses: [{ kind: 'code', column: 'status', values: ['a\0b'] }] }),
		/NUL/,
	);
	for (const given of [base, 'https://[::1]:8443/fhir', 'https://my_host.example.org/fhir']) assert.match(of(given)(), /Binary/);
});
