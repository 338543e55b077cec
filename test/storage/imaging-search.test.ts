import { strict as assert } from 'node:assert';
import { after, before, describe, test } from 'node:test';
import type pg from 'pg';
import { newId } from '#core/id.ts';
import { authoritySystem } from '#fhir/mapping/authority.ts';
import { definitionOf } from '#fhir/resources/index.ts';
import { parseSearch } from '#fhir/search/parse.ts';
import { renderStored } from '#fhir/stored.ts';
import type { PagePosition } from '#record/search-plan.ts';
import type { Reader } from '#storage/reader.ts';
import { ResourceReads } from '#storage/resource-reads.ts';
import { searchResources } from '#storage/search.ts';
import { assertEmitted } from '#test/support/emitted.ts';
import { fc, runs } from '#test/support/fuzzing.ts';
import { matches, type Resource } from '#test/support/naive-search.ts';
import { type ReadDatabase, readDatabase } from '#test/support/reader.ts';
import { defaultLimits } from '../../src/limits.ts';

let database: ReadDatabase;
let client: pg.Client;
let reader: Reader;

before(async () => {
	database = await readDatabase(1);
	({ client, reader } = database);
});

after(async () => {
	await database[Symbol.asyncDispose]();
});

const definition = definitionOf('ImagingStudy') ?? assert.fail('ImagingStudy is not defined');

async function page(
	siteId: string,
	query: string,
	{ after, bytesMax = defaultLimits.searchBytesMax }: { after?: PagePosition; bytesMax?: number } = {},
) {
	const { plan } = parseSearch(definition, query, { limits: defaultLimits, lenient: false, base: 'http://h/fhir', scopes: undefined });
	return searchResources(reader, siteId, { ...plan, after }, bytesMax);
}

async function addStudies(
	siteId: string,
	uids: readonly string[],
	started: readonly (string | null)[],
	[series, instances]: [number, number],
	offsets: readonly (string | null)[] = uids.map(() => null),
): Promise<string[]> {
	const ids = uids.map(() => newId());
	await client.query(
		`insert into imaging_study (site_id, study_uid, id, started, started_offset, modalities, series_count, instance_count, bytes, created_at,
			updated_at)
		select $1, u, i, s, o, '{CT}', $6, $7, 1, now(), now() from unnest($2::text[], $3::uuid[], $4::text[], $5::text[]) as k (u, i, s, o)`,
		[siteId, uids, ids, started, offsets, series, series * instances],
	);
	await client.query(
		`insert into imaging_series (site_id, study_uid, series_uid, modality, instance_count)
		select $1, u, u || '.' || n, 'CT', $4 from unnest($2::text[]) u, generate_series(1, $3) n`,
		[siteId, uids, series, instances],
	);
	await client.query(
		`insert into imaging_instance (site_id, sop_instance_uid, study_uid, series_uid, sop_class_uid, transfer_syntax_uid, number, digest, bytes,
			object_key, calling_ae, source, stored_at)
		select site_id, series_uid || '.' || n, study_uid, series_uid, '1.2.840.10008.5.1.4.1.1.2', '1.2', n, '', 1, '', '', '', now()
		from imaging_series, generate_series(1, $2) n where site_id = $1`,
		[siteId, instances],
	);
	return ids;
}

const two = (number: number) => String(number).padStart(2, '0');
const day = fc
	.tuple(fc.integer({ min: 2023, max: 2024 }), fc.integer({ min: 1, max: 3 }), fc.constantFrom(1, 2, 27, 28))
	.map(([y, m, d]) => `${y}-${two(m)}-${two(d)}`);
const time = fc.constantFrom('00:00:00', '00:00:01', '12:00:00', '23:59:59');
const moment = fc.tuple(day, time).map(([d, t]) => `${d}T${t}`);
const offset = fc.constantFrom(null, 'Z', '+01:00', '-09:30');
const prefix = fc.constantFrom('', 'eq', 'ne', 'gt', 'lt', 'ge', 'le', 'sa', 'eb');
const value = fc.oneof(
	fc.constantFrom('2023', '2024-02', '2024-01-31T23:59:59+01:00'),
	day,
	fc.tuple(moment, fc.constantFrom('Z', '+01:00')).map((parts) => parts.join('')),
);

describe('studies', () => {
	test('are found by the start that they are shown with, whatever prefix and precision, as R4 says it', async () => {
		const siteId = newId();
		const starts = [[null, null] as const, ...fc.sample(fc.oneof(fc.tuple(day, fc.constant(null)), fc.tuple(moment, offset)), 200)];
		await addStudies(
			siteId,
			starts.map((_start, index) => `1.2.${index + 1}`),
			starts.map(([start]) => start),
			[1, 1],
			starts.map(([, stated]) => stated),
		);
		const all = (await page(siteId, '_count=1000')).rows.map((row): Resource => ({ ...JSON.parse(row.text), id: row.id }));
		assert.equal(all.length, starts.length);
		await fc.assert(
			fc.asyncProperty(prefix, value, async (compared, moment) => {
				const { rows } = await page(siteId, `started=${encodeURIComponent(compared + moment)}&_count=1000`);
				const expected = all.filter((study) => matches(study, 'started', compared + moment)).map(({ id }) => id);
				assert.deepEqual(rows.map(({ id }) => id).sort(), expected.sort());
			}),
			{ numRuns: runs(150) },
		);
	});

	test('of 5,000 instances are read whole', async () => {
		const siteId = newId();
		const [id = ''] = await addStudies(siteId, ['1.2.9'], ['2024-01-31'], [10, 500]);
		const row = await new ResourceReads(reader).read(siteId, 'imaging_study_resource', id);
		assert.ok(row);
		const study = JSON.parse(renderStored('ImagingStudy', row));
		assertEmitted(study);
		assert.equal(study.series.flatMap(({ instance }: Resource) => instance).length, 5000);
		assert.deepEqual(
			study.series[0].instance.slice(0, 3).map(({ number }: Resource) => number),
			[1, 2, 3],
		);
	});

	test('that are large end their page early, which is told by what they will have, not by rendering them', async () => {
		const siteId = newId();
		const uids = Array.from({ length: 6 }, (_, index) => `1.2.${index + 1}`);
		const ids = await addStudies(siteId, uids, Array(6).fill(null), [1, 400]);
		const seen: string[] = [];
		let after: PagePosition | undefined;
		let pages = 0;
		do {
			const { rows, next } = await page(siteId, '', { ...(after === undefined ? {} : { after }), bytesMax: 150_000 });
			assert.ok(rows.reduce((sum, { text }) => sum + text.length, 0) < 300_000);
			seen.push(...rows.map(({ id }) => id));
			after = next;
			pages += 1;
		} while (after !== undefined);
		assert.deepEqual([seen, pages], [ids, 3]);
		assert.equal((await page(siteId, '_elements=identifier', { bytesMax: 150_000 })).rows.length, 6);
		assert.equal((await page(siteId, '_summary=true', { bytesMax: 150_000 })).rows.length, 6);
	});
});

test('an issuer is the same system in the database as in HL7 v2', async () => {
	const known = ['1.2.840.1', '1.02', '0199C0DE-0000-7000-8000-000000000002', 'http://x.example/a b', 'urn:oid:1.2', 'RIS', "a'b(c)*~!"];
	const spaced = ['urn:a\u00a0b', 'https://x/a\u3000ü\u2009b', 'http://x/\ufeff'].filter((name) => name.trim() === name);
	const names = [...known, ...spaced, ...fc.sample(fc.string({ unit: 'grapheme', minLength: 1, maxLength: 30 }), 200)].filter(
		(name) => name.trim() === name && name !== '' && !name.includes('\0'),
	);
	const { rows } = await client.query(
		'select array(select tributary_authority(n) from unnest($1::text[]) with ordinality as k (n, p) order by p) as systems',
		[names],
	);
	assert.deepEqual(
		rows[0].systems,
		names.map((name) => authoritySystem('', name, '')),
	);
});
