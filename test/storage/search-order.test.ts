import { strict as assert } from 'node:assert';
import { after, before, test } from 'node:test';
import type pg from 'pg';
import { newId } from '#core/id.ts';
import { definitionOf } from '#fhir/resources/index.ts';
import { parseSearch } from '#fhir/search/parse.ts';
import type { PagePosition } from '#record/search-plan.ts';
import type { Reader } from '#storage/reader.ts';
import { searchResources } from '#storage/search.ts';
import { fc, runs } from '#test/support/fuzzing.ts';
import { type ReadDatabase, readDatabase } from '#test/support/reader.ts';
import { type GivenResource, insertResources } from '#test/support/stored-resources.ts';
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

/** Ids of all pages, one after the other; `between` runs before each further page. */
async function allPages(siteId: string, query: string, between: (page: number) => Promise<void> = async () => {}): Promise<string[]> {
	const definition = definitionOf('Patient') ?? assert.fail();
	const { plan } = parseSearch(definition, query, { limits: defaultLimits, lenient: false, base: 'http://h/fhir', scopes: undefined });
	const ids: string[] = [];
	let after: PagePosition | undefined;
	for (let page = 0; page < 1000; page++) {
		const { rows, next } = await searchResources(reader, siteId, { ...plan, after }, defaultLimits.searchBytesMax);
		ids.push(...rows.map(({ id }) => id));
		after = next;
		if (next === undefined) return ids;
		assert.ok(rows.length > 0, 'a page that promises more is not empty');
		await between(page);
	}
	return assert.fail('the pages do not end');
}

const maybe = <T>(values: readonly T[]) => fc.option(fc.constantFrom(...values), { nil: undefined });

interface Sortable {
	id: string;
	gender: string | undefined;
	birthDate: string | undefined;
}

/** What has no value comes last, whether the order ascends or descends; the id goes the way of the last key. */
function naiveOrder(sort: string): (left: Sortable, right: Sortable) => number {
	const keys = [...sort.split(','), sort.split(',').at(-1)?.startsWith('-') ? '-id' : 'id'];
	const keyOf = (resource: Sortable, name: string) =>
		name === 'birthdate' ? resource.birthDate : name === 'gender' ? resource.gender : resource.id;
	return (left, right) => {
		for (const key of keys) {
			const name = key.replace('-', '');
			const [one, other] = [keyOf(left, name), keyOf(right, name)];
			if (one === other) continue;
			if (one === undefined || other === undefined) return one === undefined ? 1 : -1;
			return one < other === key.startsWith('-') ? 1 : -1;
		}
		return 0;
	};
}

test('pages in any order, put together, are the whole, and who is not touched is seen once while others write', async () => {
	const person = fc.record({ gender: maybe(['male', 'female', 'other']), birthDate: maybe(['1970-05-17', '1970-05-18', '1980-01-01']) });
	const key = fc.constantFrom('gender', '-gender', 'birthdate', '-birthdate');
	const given = fc.record({
		people: fc.array(person, { minLength: 1, maxLength: 14 }),
		late: fc.array(person, { maxLength: 4 }),
		sort: fc.uniqueArray(key, { minLength: 1, maxLength: 2, selector: (name) => name.replace('-', '') }).map((keys) => keys.join(',')),
		count: fc.integer({ min: 1, max: 4 }),
	});
	await fc.assert(
		fc.asyncProperty(given, async ({ people, late, sort, count }) => {
			const siteId = newId();
			const stored = people.map((elements) => ({ ...elements, id: newId() }));
			const row = ({ id, ...elements }: Sortable): GivenResource => ({ type: 'Patient', id, text: JSON.stringify(elements) });
			await insertResources(client, siteId, stored.map(row));
			const expected = stored.toSorted(naiveOrder(sort)).map(({ id }) => id);
			assert.deepEqual(await allPages(siteId, `_sort=${sort}&_count=${count}`), expected, sort);
			const seen = await allPages(siteId, `_sort=${sort}&_count=${count}`, async (page) => {
				const more = late[page];
				if (more) await insertResources(client, siteId, [row({ ...more, id: newId() })]);
			});
			assert.deepEqual(
				seen.filter((id) => expected.includes(id)),
				expected,
				`${sort} while others write`,
			);
		}),
		{ numRuns: runs(60) },
	);
});
