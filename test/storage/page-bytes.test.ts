import { strict as assert } from 'node:assert';
import { after, before, describe, test } from 'node:test';
import { newId } from '#core/id.ts';
import { definitionOf } from '#fhir/resources/index.ts';
import { parseSearch } from '#fhir/search/parse.ts';
import { compactText } from '#record/compact-text.ts';
import type { PagePosition, SearchPlan } from '#record/search-plan.ts';
import type { StoredResource } from '#record/stored-resource.ts';
import { namedResources, searchResources } from '#storage/search.ts';
import { type ReadDatabase, readDatabase } from '#test/support/reader.ts';
import { type GivenResource, insertResources } from '#test/support/stored-resources.ts';
import { defaultLimits } from '../../src/limits.ts';

const siteId = newId();
const count = 20;
const official = (text: string) => `{"active":true,"name":[{"use":"official","text":"${text}"}],"maritalStatus":{"text":"single"}}`;
const textOf = (type: 'Patient' | 'Appointment', index: number): string => {
	// Texts of messages are kept compact, and are longer when they are read.
	if (type === 'Patient' && index % 4 === 1) return official(`Page ${index}`);
	const day = `19${50 + (index % 7)}-0${1 + (index % 9)}-11`;
	const dated = index % 3 === 0 ? {} : type === 'Patient' ? { birthDate: day } : { start: `${day}T10:00:00Z` };
	const comment = 'x'.repeat(index % 4 === 2 ? 30_000 : index);
	return JSON.stringify(type === 'Patient' ? { name: [{ text: 'Page' }], photo: [{ title: comment }], ...dated } : { comment, ...dated });
};
const given: GivenResource[] = (['Patient', 'Appointment'] as const).flatMap((type) =>
	Array.from({ length: 50 }, (_, index) => ({ type, id: newId(), text: textOf(type, index) })),
);
const patients = given.filter(({ type }) => type === 'Patient');
const wholeOf = new Map(given.map(({ id, text }) => [id, text]));

const queries = [
	'Patient?',
	'Patient?name=page',
	'Patient?name=zz',
	'Patient?_sort=birthdate',
	'Patient?_sort=-birthdate',
	'Patient?_sort=-_lastUpdated',
	'Patient?active=true',
	'Patient?active:missing=true',
	'Patient?name=page&active=true',
	'Appointment?',
	'Appointment?_sort=date',
	'Appointment?_sort=-date',
];
/** All texts have their share; the long ones fit without it; pages end early; the share is so small that the sum is asked for at once. */
const bounds = [1_000_000, 200_000, 90_000, 20_000, 300, 1];

let database: ReadDatabase;

before(async () => {
	database = await readDatabase(1);
	await insertResources(database.client, siteId, given);
	// The search columns were made of the whole texts.
	for (const { id, text } of patients) {
		const compact = compactText(text);
		if (compact !== text)
			await database.client.query('update patient set resource = $3 where site_id = $1 and id = $2', [siteId, id, compact]);
	}
});

after(async () => {
	await database[Symbol.asyncDispose]();
});

function planOf(query: string, position?: PagePosition): SearchPlan {
	const [type = '', parameters = ''] = query.split('?');
	const definition = definitionOf(type) ?? assert.fail();
	const { plan } = parseSearch(definition, `${parameters}&_count=${count}`, {
		limits: defaultLimits,
		lenient: false,
		base: '',
		scopes: undefined,
	});
	return { ...plan, after: position };
}

async function pagesOf(query: string, bytesMax: number): Promise<StoredResource[][]> {
	const pages: StoredResource[][] = [];
	for (let position: PagePosition | undefined; ; ) {
		const { rows, next } = await searchResources(database.reader, siteId, planOf(query, position), bytesMax);
		pages.push(rows);
		if (next === undefined) return pages;
		assert.ok(rows.length > 0 && pages.length <= given.length);
		position = next;
	}
}

const lengthOf = (rows: readonly StoredResource[]) => rows.reduce((sum, { text }) => sum + Buffer.byteLength(text), 0);

describe('the bytes of a page', () => {
	test('some texts are kept compact', async () => {
		const { rows } = await database.client.query(
			`select count(*)::integer as count from patient where site_id = $1 and resource like '\\%%'`,
			[siteId],
		);
		assert.ok(rows[0].count > 5, `${rows[0].count}`);
	});

	for (const query of queries) {
		test(`are bounded, and no resource is lost: ${query}`, async () => {
			const whole = (await pagesOf(query, defaultLimits.searchBytesMax)).flat();
			for (const { id, text } of whole) assert.equal(text, wholeOf.get(id));
			assert.equal(new Set(whole.map(({ id }) => id)).size, whole.length);
			for (const bytesMax of bounds) {
				const pages = await pagesOf(query, bytesMax);
				assert.deepEqual(pages.flat(), whole, `${bytesMax}`);
				for (const [index, page] of pages.entries()) {
					assert.ok(lengthOf(page.slice(0, -1)) < bytesMax, 'only the last text of a page may pass the limit');
					const isLast = index === pages.length - 1;
					assert.ok(isLast || page.length === count || lengthOf(page) >= bytesMax, 'a page ends early for its bytes alone');
				}
			}
		});
	}

	test('of what a page includes are bounded, too, and it is said that there is more', async () => {
		const ids = patients.map(({ id }) => id);
		const included = (bytesMax: number, rowsMax: number) =>
			namedResources(database.reader, siteId, { includedType: 'Patient', includedTable: 'patient' }, ids, {
				rowsMax,
				bytesMax,
				extent: 'whole',
			});
		const all = await included(3_000_000, 100);
		assert.deepEqual([all.rows.length, all.cut], [patients.length, false]);
		for (const { id, text } of all.rows) assert.equal(text, wholeOf.get(id));
		const longAmongShort = await included(1_000_000, 100);
		assert.deepEqual(longAmongShort, all);
		const few = await included(3_000_000, 10);
		assert.deepEqual([few.rows, few.cut], [all.rows.slice(0, 10), true]);
		const bounded = await included(250_000, 100);
		assert.ok(bounded.cut && bounded.rows.length > 1 && lengthOf(bounded.rows.slice(0, -1)) < 250_000);
		assert.deepEqual(bounded.rows, all.rows.slice(0, bounded.rows.length));
	});
});
