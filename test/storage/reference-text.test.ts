import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import pg from 'pg';
import { referenceTerm } from '#fhir/generated-values.ts';
import { testDatabase } from '#test/support/database.ts';

/** Makes the parts of references, some of them just inside and just outside of the limits. */
const part = fc.oneof(
	fc.constantFrom(
		'Patient',
		'A',
		'Ab',
		'patient',
		'_history',
		'1',
		'',
		'x.y-z',
		'urn:uuid:1',
		'http:',
		'ü',
		'\n',
		' ',
		'01a20af4-cb05-7000-b655-1f97601f466c',
	),
	fc.integer({ min: 62, max: 66 }).map((length) => `A${'b'.repeat(length - 1)}`),
	fc.stringMatching(/^[A-Za-z0-9.-]{1,8}$/),
);
const reference = fc.oneof(
	fc.array(part, { minLength: 1, maxLength: 5 }).map((parts) => parts.join('/')),
	fc.tuple(fc.constantFrom('Patient', 'Observation'), part, part).map(([type, id, version]) => `${type}/${id}/_history/${version}`),
);

test('the database has the same text for a reference as the service', async () => {
	await using database = await testDatabase();
	const client = new pg.Client({ connectionString: database.url });
	await client.connect();
	try {
		const texts = fc.sample(reference, 3000);
		const { rows } = await client.query<{ text: string }>(
			`select tributary_reference_text('Observation.subject', t.text) as text from unnest($1::text[]) with ordinality t (text, place) order by t.place`,
			[texts],
		);
		assert.ok(rows.filter(({ text }) => text.includes('\u0001r')).length > 100, 'many of them name a row');
		for (const [index, text] of texts.entries()) assert.equal(rows[index]?.text, referenceTerm('Observation.subject', text), text);
	} finally {
		await client.end();
	}
});
