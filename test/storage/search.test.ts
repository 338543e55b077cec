import { strict as assert } from 'node:assert';
import { after, before, describe, test } from 'node:test';
import type pg from 'pg';
import { dateRange } from '#core/date-range.ts';
import { newId } from '#core/id.ts';
import { plain } from '#fhir/fold.ts';
import { definitionOf } from '#fhir/resources/index.ts';
import { parseSearch } from '#fhir/search/parse.ts';
import { renderStored } from '#fhir/stored.ts';
import type { PagePosition, SearchPlan } from '#record/search-plan.ts';
import type { Reader } from '#storage/reader.ts';
import { ResourceReads } from '#storage/resource-reads.ts';
import { countResources, type FoundPage, searchResources } from '#storage/search.ts';
import { fc, runs } from '#test/support/fuzzing.ts';
import { matches, type Resource } from '#test/support/naive-search.ts';
import { type ReadDatabase, readDatabase } from '#test/support/reader.ts';
import { type GivenResource, insertResources, lastUpdated } from '#test/support/stored-resources.ts';
import { defaultLimits } from '../../src/limits.ts';

let database: ReadDatabase;
let client: pg.Client;
let reader: Reader;

before(async () => {
	database = await readDatabase(2);
	({ client, reader } = database);
});

after(async () => {
	await database[Symbol.asyncDispose]();
});

function planOf(query: string, position?: PagePosition): SearchPlan {
	const [type = '', parameters = ''] = query.split('?');
	const definition = definitionOf(type) ?? assert.fail(`${type} is not defined`);
	const { plan } = parseSearch(definition, parameters, { limits: defaultLimits, lenient: false, base: 'http://h/fhir', scopes: undefined });
	return { ...plan, after: position };
}

const search = (siteId: string, query: string, position?: PagePosition) =>
	searchResources(reader, siteId, planOf(query, position), defaultLimits.searchBytesMax);

const idsOf = async (siteId: string, query: string) => (await search(siteId, query)).rows.map(({ id }) => id);

/** Ids of all pages, one after the other; `between` runs before each further page. */
async function allPages(siteId: string, query: string, between: (page: number) => Promise<void> = async () => {}): Promise<string[]> {
	const ids: string[] = [];
	let position: PagePosition | undefined;
	for (let page = 0; page < 1000; page++) {
		const { rows, next } = await search(siteId, query, position);
		ids.push(...rows.map(({ id }) => id));
		position = next;
		if (next === undefined) return ids;
		assert.ok(rows.length > 0, 'a page that promises more is not empty');
		await between(page);
	}
	return assert.fail('the pages do not end');
}

function patient(text: object, id = newId()): GivenResource {
	return { type: 'Patient', id, text: JSON.stringify(text) };
}

describe('a read by id', () => {
	test('gives the stored text with its digits, the version and a FHIR instant', async () => {
		const siteId = newId();
		const text = '{"status":"final","valueQuantity":{"value":1.00}}';
		const given: GivenResource = { type: 'Observation', id: newId(), text, version: 3, source: 'urn:x' };
		await insertResources(client, siteId, [given]);
		const row = await new ResourceReads(reader).read(siteId, 'observation', given.id);
		assert.deepEqual(row, { id: given.id, version: '3', lastUpdated, source: 'urn:x', meta: null, text });
		assert.match(renderStored('Observation', row ?? assert.fail()), /"value":1\.00/);
	});

	test('knows nothing of another site, of an id that never was and of what is no id', async () => {
		const [own, other] = [newId(), newId()];
		const theirs = patient({ name: [{ text: 'Theirs' }] });
		await insertResources(client, other, [theirs]);
		for (const id of [theirs.id, newId(), '', 'x', "' or 1=1 --", theirs.id.toUpperCase(), `${theirs.id}\0`]) {
			assert.equal(await new ResourceReads(reader).read(own, 'patient', id), undefined, id);
		}
	});
});

describe('a search', () => {
	test('finds nothing of another site, whatever it asks', async () => {
		const [own, other] = [newId(), newId()];
		const theirs = patient({
			name: [{ text: 'Shared' }],
			birthDate: '1970-05-17',
			gender: 'male',
			identifier: [{ system: 'urn:a', value: '1' }],
		});
		const coded = { status: 'final', code: { coding: [{ system: 'urn:a', code: 'A' }, { code: 'B' }] }, effectiveDateTime: '2024' };
		const result: GivenResource = { type: 'Observation', id: newId(), patientId: theirs.id, text: JSON.stringify(coded) };
		await insertResources(client, other, [theirs, result]);
		const queries = [
			'',
			'name=shared',
			'birthdate=1970-05-17',
			'gender=male',
			'identifier=1',
			'identifier=urn:a|1',
			'identifier=urn:a|',
			`_id=${theirs.id}`,
		];
		const clinical = [`patient=Patient/${theirs.id}`, 'code=A', 'code=B', 'status=final', 'date=2024', `_id=${result.id}`];
		for (const query of [...queries.map((part) => `Patient?${part}`), ...clinical.map((part) => `Observation?${part}`)]) {
			assert.deepEqual(await idsOf(own, query), [], query);
			assert.equal((await idsOf(other, query)).length, 1, query);
			assert.equal(await countResources(reader, own, planOf(query)), 0, query);
		}
	});

	test('an identifier of our patient in the index of another site leads nowhere', async () => {
		const [own, other] = [newId(), newId()];
		const shared = newId();
		await insertResources(client, own, [patient({ name: [{ text: 'Ours' }] }, shared)]);
		await insertResources(client, other, [patient({ identifier: [{ value: '77' }] }, shared)]);
		assert.deepEqual(await idsOf(own, 'Patient?identifier=77'), []);
	});

	test('finds a merged pair by the old identifier: the survivor that carries it and the replaced patient', async () => {
		const siteId = newId();
		const survivor = patient({ identifier: [{ value: 'A' }, { value: 'B', use: 'old' }] });
		const prior = patient({ active: false, identifier: [{ value: 'B' }] });
		await insertResources(client, siteId, [survivor, prior]);
		assert.deepEqual(await idsOf(siteId, 'Patient?identifier=B'), [survivor.id, prior.id]);
		assert.deepEqual(await idsOf(siteId, 'Patient?identifier=A'), [survivor.id]);
	});

	test('wildcards of LIKE, quotes and backslashes in a name are only themselves', async () => {
		const siteId = newId();
		const names = ['100% sure', 'under_score', 'back\\slash', "O'Neill"];
		const given = names.map((text) => patient({ name: [{ text }] }));
		await insertResources(client, siteId, given);
		for (const [value, index] of [
			['%', 0],
			['_', 1],
			['\\', 2],
			["'", 3],
		] as const) {
			const query = `Patient?name=${encodeURIComponent(value === '\\' ? '\\\\' : value)}`;
			assert.deepEqual(await idsOf(siteId, query), [given[index]?.id], value);
		}
	});

	test('texts match without case and accents, those of the search and those of the record', async () => {
		const siteId = newId();
		const given = ['Müller', 'MULLER', 'Zoë', 'Søndergård'].map((family, index) =>
			patient({ name: [{ family, given: [`Given ${index}`] }], address: [{ city: family }] }),
		);
		await insertResources(client, siteId, given);
		const both = [given[0]?.id, given[1]?.id];
		for (const name of ['name', 'family', 'family:contains', 'name:contains', 'address', 'address-city']) {
			for (const value of ['muller', 'Müller', 'MÜLLER', 'mu\u0308ll']) {
				assert.deepEqual(await idsOf(siteId, `Patient?${name}=${encodeURIComponent(value)}`), both, `${name} ${value}`);
			}
			assert.deepEqual(await idsOf(siteId, `Patient?${name}=zoe`), [given[2]?.id], name);
			assert.deepEqual(await idsOf(siteId, `Patient?${name}=sondergard`), [given[3]?.id], name);
		}
		for (const name of ['family', 'name', 'address-city']) {
			assert.deepEqual(await idsOf(siteId, `Patient?${name}:exact=M%C3%BCller`), [given[0]?.id], name);
			assert.deepEqual(await idsOf(siteId, `Patient?${name}:exact=Muller`), [], name);
		}
	});

	test('the database folds every text as the product does', async () => {
		const texts = fc.array(
			fc.oneof(fc.string({ unit: 'grapheme' }), fc.string({ unit: fc.constantFrom(...'aÄéßIıİΣςøŁæÞがカ\u0301\u0308') })),
		);
		await fc.assert(
			fc.asyncProperty(texts, async (given) => {
				const kept = given.map((text) => text.replaceAll('\0', ''));
				const { rows } = await client.query<{ plain: string }>(
					'select tributary_plain(t.v) as plain from unnest($1::text[]) with ordinality as t (v, n) order by t.n',
					[kept],
				);
				assert.deepEqual(
					rows.map((row) => row.plain),
					kept.map(plain),
				);
			}),
		);
	});

	test('dates at the ends of the calendar, NULs and many alternatives do not fail', async () => {
		const siteId = newId();
		const given = patient({ birthDate: '9999-12-31' });
		await insertResources(client, siteId, [given]);
		assert.deepEqual(await idsOf(siteId, 'Patient?birthdate=9999-12-31'), [given.id]);
		assert.deepEqual(await idsOf(siteId, 'Patient?birthdate=9999'), [given.id]);
		const quiet = ['birthdate=gt9999', 'birthdate=lt0001', 'name=%00', 'identifier=%00|%00', '_id=%00', `gender=${'a,'.repeat(900)}b`];
		for (const query of quiet) assert.deepEqual(await idsOf(siteId, `Patient?${query}`), [], query);
		assert.deepEqual(await idsOf(siteId, 'Observation?date=0001-01-01T00:00:00%2B14:00,9999-12-31T23:59:59-14:00'), []);
	});
});

describe('pages of a search', () => {
	const people = (count: number) => Array.from({ length: count }, (_, index) => patient({ name: [{ text: `Page ${index}` }] }));

	test('hold as many as asked, in the order of creation, and the last one is not empty', async () => {
		const siteId = newId();
		const given = people(6);
		await insertResources(client, siteId, given);
		const first = await search(siteId, 'Patient?_count=3');
		assert.deepEqual(
			first.rows.map(({ id }) => id),
			given.slice(0, 3).map(({ id }) => id),
		);
		assert.ok(first.next);
		const second = await search(siteId, 'Patient?_count=3', first.next);
		assert.deepEqual(
			second.rows.map(({ id }) => id),
			given.slice(3).map(({ id }) => id),
		);
		assert.equal(second.next, undefined);
	});

	test('show every resource once while others are written, and those that come after', async () => {
		const siteId = newId();
		const given = people(20);
		const late = people(5);
		await insertResources(client, siteId, given);
		const seen = await allPages(siteId, 'Patient?name=page&_count=3', async (page) => {
			const more = late[page];
			if (more) await insertResources(client, siteId, [more]);
		});
		assert.deepEqual(
			seen,
			[...given, ...late].map(({ id }) => id),
		);
	});

	test('end early where the texts would pass the limit of bytes, hold one resource at least and lose none', async () => {
		const siteId = newId();
		const sizes = [10, 5000, 10, 10, 3000, 10];
		const given = sizes.map((size) => patient({ name: [{ text: 'x'.repeat(size) }] }));
		await insertResources(client, siteId, given);
		const pages: string[][] = [];
		let position: PagePosition | undefined;
		do {
			const page: FoundPage = await searchResources(reader, siteId, planOf('Patient?', position), 2000);
			pages.push(page.rows.map(({ id }) => id));
			position = page.next;
		} while (position !== undefined);
		assert.deepEqual(
			pages.flat(),
			given.map(({ id }) => id),
		);
		assert.deepEqual(
			pages.map((page) => page.length),
			[2, 3, 1],
		);
	});
});

const dates = ['1970', '1970-05', '1970-05-17', '1970-05-18', '1970-06', '1971', '1969-12-31'];
const moments = [...dates, '1970-05-17T10:00:00Z', '1970-05-17T10:00:00.250Z', '1970-05-17T23:30:00-02:00', '1970-05-17T10:00:00+02:00'];
const systems = ['urn:a', 'urn:b', undefined];
const codes = ['A', 'B', 'C'];
const prefixes = ['', 'eq', 'ne', 'gt', 'lt', 'ge', 'le', 'sa', 'eb'];
const words = ['Anna', 'ANNA', 'Müller', 'müll', 'Groß', 'GROSS', 'An', 'r', 'Van der Berg', 'Zoë'];

const maybe = <T>(values: readonly T[]) => fc.option(fc.constantFrom(...values), { nil: undefined });
const token = fc.record({ system: maybe(systems), code: maybe(codes) });
const patientElements = fc.record({
	name: fc.array(fc.record({ text: maybe(words), family: maybe(words), given: fc.array(fc.constantFrom(...words), { maxLength: 2 }) }), {
		maxLength: 2,
	}),
	birthDate: maybe(dates),
	gender: maybe(['male', 'female', 'other', 'unknown']),
	identifier: fc.array(fc.record({ system: maybe(systems), value: fc.constantFrom(...codes) }), { maxLength: 2 }),
});
const observationElements = fc.record({
	status: fc.constantFrom('final', 'amended'),
	code: fc.record({ coding: fc.array(token, { maxLength: 3 }), text: maybe(words) }),
	effectiveDateTime: maybe(moments),
	valueQuantity: fc.option(
		fc.record({ value: fc.constantFrom(4.75, 5, 5.25, 5.5, 6, 10), comparator: fc.constantFrom(undefined, undefined, '<', '>') }),
		{ nil: undefined },
	),
});
const periodElements = fc.record({
	status: fc.constantFrom('finished', 'in-progress'),
	class: fc.record({ code: maybe(codes) }),
	// FHIR R4 per-1: a period does not end before it starts.
	period: fc.option(
		fc
			.record({ start: maybe(moments), end: maybe(moments) })
			.filter(
				({ start, end }) => start === undefined || end === undefined || (dateRange(start)?.startMs ?? 0) < (dateRange(end)?.endMs ?? 0),
			),
		{ nil: undefined },
	),
});

const tokenValue = fc.tuple(fc.constantFrom('', '|', 'urn:a|', 'urn:b|'), fc.constantFrom(...codes, '')).map((parts) => parts.join(''));
const dateValue = (values: readonly string[]) =>
	fc.tuple(fc.constantFrom(...prefixes), fc.constantFrom(...values)).map((parts) => parts.join(''));
const several = (value: fc.Arbitrary<string>) =>
	fc
		.array(
			value.filter((text) => text !== '' && text !== '|'),
			{ minLength: 1, maxLength: 3 },
		)
		.map((values) => values.join(','));
const parameter = (name: string, value: fc.Arbitrary<string>) => several(value).map((text): [string, string] => [name, text]);
const queryOf = (...parameters: fc.Arbitrary<[string, string]>[]) => fc.array(fc.oneof(...parameters), { maxLength: 3 });

const missing = (name: string) => fc.constantFrom('true', 'false').map((value): [string, string] => [`${name}:missing`, value]);
const quantityValue = fc
	.tuple(fc.constantFrom('', 'eq', 'ne', 'gt', 'lt', 'ge', 'le'), fc.constantFrom('5', '5.0', '5.25', '5.3', '10'))
	.map((parts) => parts.join(''));

const queries = {
	Patient: queryOf(
		parameter('name', fc.constantFrom(...words)),
		parameter('gender', fc.constantFrom('male', 'female', 'x')),
		parameter('birthdate', dateValue(dates)),
		parameter('identifier', tokenValue),
		parameter('family', fc.constantFrom(...words)),
		parameter('given', fc.constantFrom(...words)),
		parameter('name:exact', fc.constantFrom(...words)),
		parameter('gender:not', fc.constantFrom('male', 'female')),
		missing('gender'),
		missing('birthdate'),
		missing('identifier'),
	),
	Observation: queryOf(
		parameter('code', tokenValue),
		parameter('date', dateValue(moments)),
		parameter('status', fc.constantFrom('final', 'amended')),
		parameter('patient', fc.constantFrom('Patient/0', '1', 'Group/0')),
		parameter('code:not', fc.constantFrom(...codes, 'urn:a|A')),
		parameter('value-quantity', quantityValue),
		missing('value-quantity'),
		missing('date'),
	),
	Encounter: queryOf(
		parameter('class', fc.constantFrom(...codes)),
		parameter('date', dateValue(moments)),
		parameter('status', fc.constantFrom('finished', 'planned')),
		parameter('subject', fc.constantFrom('Patient/0', '1')),
	),
} as const;

const record = fc.record({
	Patient: fc.array(patientElements, { minLength: 2, maxLength: 12 }),
	Observation: fc.array(observationElements, { maxLength: 12 }),
	Encounter: fc.array(periodElements, { maxLength: 8 }),
	queries: fc.record({
		Patient: fc.array(queries.Patient, { minLength: 4, maxLength: 6 }),
		Observation: fc.array(queries.Observation, { minLength: 4, maxLength: 6 }),
		Encounter: fc.array(queries.Encounter, { minLength: 3, maxLength: 4 }),
	}),
	count: fc.integer({ min: 1, max: 5 }),
});

test('any search finds what a search through all resources of the site finds, page by page', async () => {
	await fc.assert(
		fc.asyncProperty(record, async (given) => {
			const siteId = newId();
			const patients = given.Patient.map((elements) => patient(elements));
			const clinical = (['Observation', 'Encounter'] as const).flatMap((type) =>
				given[type].map((elements: object, index): GivenResource => {
					const patientId = patients[index % 2]?.id ?? assert.fail();
					return { type, id: newId(), patientId, text: JSON.stringify({ ...elements, subject: { reference: `Patient/${patientId}` } }) };
				}),
			);
			const all = [...patients, ...clinical];
			await insertResources(client, siteId, all);
			for (const type of ['Patient', 'Observation', 'Encounter'] as const) {
				for (const parameters of given.queries[type]) {
					const named = parameters.map(([name, value]): [string, string] => [
						name,
						value.replace(/\b[01]\b(?!-)/g, (index) =>
							name === 'patient' || name === 'subject' ? (patients[Number(index)]?.id ?? '') : index,
						),
					]);
					const resources: Resource[] = all
						.filter((resource) => resource.type === type)
						.map(({ id, text }) => ({ ...JSON.parse(text), id }));
					const expected = resources
						.filter((resource) => named.every(([name, value]) => matches(resource, name, value)))
						.map(({ id }) => id);
					const query = `${type}?${new URLSearchParams(named)}`;
					assert.deepEqual(await allPages(siteId, `${query}&_count=${given.count}`), expected, decodeURIComponent(query));
					assert.equal(await countResources(reader, siteId, planOf(query)), expected.length);
				}
			}
		}),
		{ numRuns: runs(60) },
	);
});
