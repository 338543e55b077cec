import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { Failure } from '#core/failure.ts';
import type { JsonObject } from '#core/json.ts';
import type { ResourceDeletion } from '#record/apply/resource-deletion.ts';
import { referenceTo } from '#record/apply/rows.ts';
import type { Condition } from '#record/condition.ts';
import type { ResourceChange } from '#record/kinds/resource.ts';
import { rowIdOf } from '#record/row-id.ts';
import { MemorySite } from '#test/support/memory-site.ts';

function change(id: string | undefined, resource: JsonObject, further: Partial<ResourceChange> = {}): ResourceChange {
	return {
		...{ kind: 'resource', resourceType: 'Procedure', interaction: id === undefined ? 'create' : 'update', id, fullUrl: undefined },
		...{
			condition: undefined,
			references: [],
			ifMatch: undefined,
			ifNoneMatch: false,
			mayCreate: true,
			checkReferences: false,
			patients: [],
		},
		compose: () => ({ resource, meta: null, source: undefined, links: {}, patients: [] }),
		...further,
	};
}

const search = (...matched: string[]): Condition => ({
	criteria: 'code=a',
	plan: { resourceType: 'Procedure' } as never,
	matched: { ids: matched, throughMerge: false },
});
const apply = (site: MemorySite, ...changes: (ResourceChange | ResourceDeletion)[]) =>
	site.apply({ changes, flags: [] }).results.map(({ status, row }) => [status, row?.version]);

function refused(site: MemorySite, code: string, ...changes: (ResourceChange | ResourceDeletion)[]): void {
	const before = site.all();
	assert.throws(
		() => apply(site, ...changes),
		(error) => error instanceof Failure && error.code === code,
		code,
	);
	assert.deepEqual(site.all(), before);
}

describe('what a FHIR client writes', () => {
	test('is created, then updated under its id; the same content in another order is no new version', () => {
		const site = new MemorySite();
		assert.deepEqual(apply(site, change('x1', { status: 'completed', note: 'a' })), [[201, 1]]);
		assert.deepEqual(apply(site, change('x1', { note: 'a', status: 'completed' })), [[200, 1]]);
		assert.deepEqual(apply(site, change('x1', { status: 'stopped' })), [[200, 2]]);
		assert.deepEqual(site.resources('Procedure'), [{ status: 'stopped' }]);
	});

	for (const [what, expected, further] of [
		['If-Match of the version that is there', [200, 2], { ifMatch: ['7', '1'] }],
		['If-Match of any version', [200, 2], { ifMatch: ['*'] }],
		['If-Match of another version', 'precondition-failed', { ifMatch: ['2'] }],
		['If-None-Match: *', 'precondition-failed', { ifNoneMatch: true }],
		['a condition that matches it', [200, 2], { id: undefined, condition: search('x1') }],
		['a condition that matches nothing', [201, 1], { id: undefined, condition: search() }],
		['a condition that matches several', 'several-matches', { id: undefined, condition: search('x1', 'x2') }],
		['a condition that matches another id than it states', 'invalid', { id: 'x2', condition: search('x1') }],
		['a create whose condition matches', [200, 1], { id: undefined, interaction: 'create', condition: search('x1') }],
		['an id that it may not choose', 'method-not-allowed', { id: 'x2', mayCreate: false }],
		['a patch of what is not there', 'not-found', { id: 'x2', interaction: 'patch' }],
		['If-Match of what is not there', 'precondition-failed', { id: 'x2', ifMatch: ['1'] }],
	] as [string, string | [number, number], Partial<ResourceChange>][]) {
		test(`${what}: ${typeof expected === 'string' ? expected : expected.join(', version ')}`, () => {
			const site = new MemorySite();
			apply(site, change('x1', { status: 'completed' }));
			const next = change('x1', { status: 'stopped' }, { ...further, interaction: further.interaction ?? 'update' });
			if (typeof expected === 'string') refused(site, expected, next);
			else assert.deepEqual(apply(site, next), [expected]);
		});
	}

	test('in a transaction refers to what another entry became, before or behind it', () => {
		const site = new MemorySite();
		const told: (string | undefined)[] = [];
		const asking = (fullUrl: string, other: string) =>
			change(
				undefined,
				{},
				{
					fullUrl,
					compose: (_held, resolved) => {
						told.push(resolved.get(other));
						return { resource: {}, meta: null, source: undefined, links: {}, patients: [] };
					},
				},
			);
		apply(site, asking('urn:a', 'urn:b'), asking('urn:b', 'urn:a'));
		assert.deepEqual(told, site.rows('Procedure').map(referenceTo).reverse());
	});

	for (const [what, changes] of [
		['about one resource twice', [change('x1', { a: 1 }), change('x1', { a: 2 })]],
		[
			'with one condition twice that matches nothing',
			[change(undefined, {}, { condition: search() }), change(undefined, {}, { condition: search() })],
		],
	] as const) {
		test(`in a transaction ${what}: is refused as a whole`, () => refused(new MemorySite(), 'invalid', ...changes));
	}

	for (const found of [[], ['x1', 'x2']]) {
		test(`refers by a search that matches ${found.length}: is refused`, () => {
			refused(new MemorySite(), 'precondition-failed', change('x9', {}, { references: [search(...found)] }));
		});
	}

	test('may refer to a patient that is there, or that the transaction writes, and to no other', () => {
		const site = new MemorySite();
		const patients = [{ rowId: rowIdOf('p1'), text: 'Patient/p1', expression: 'Procedure.subject' }];
		const about = change(
			'x1',
			{},
			{
				checkReferences: true,
				compose: () => ({ resource: {}, meta: null, source: undefined, links: {}, patients }),
			},
		);
		refused(site, 'unknown-key', about);
		assert.deepEqual(apply(site, about, change('p1', {}, { resourceType: 'Patient' })), [
			[201, 1],
			[201, 1],
		]);
	});
});

const deletion = (further: Partial<ResourceDeletion> = {}): ResourceDeletion => ({
	...{ kind: 'resource', interaction: 'delete', resourceType: 'Procedure', id: 'x1', condition: undefined, ifMatch: undefined },
	...further,
});

describe('what a FHIR client deletes', () => {
	for (const [what, expected, further] of [
		['by its id', [204, 2], {}],
		['with If-Match of its version', [204, 2], { ifMatch: ['1'] }],
		['with If-Match of another version', 'precondition-failed', { ifMatch: ['2'] }],
		['without If-Match where it is required', 'precondition-failed', { ifMatchRequired: true }],
		['by a condition that matches it', [204, 2], { id: undefined, condition: search('x1') }],
		['by a condition that matches nothing', [204, undefined], { id: undefined, condition: search() }],
		['by a condition that matches several', 'several-matches', { id: undefined, condition: search('x1', 'x2') }],
		['by an id that nobody has', [204, undefined], { id: 'x2' }],
		['by an id that nobody has, with If-Match', 'precondition-failed', { id: 'x2', ifMatch: ['*'] }],
	] as [string, string | [number, number | undefined], Partial<ResourceDeletion>][]) {
		test(`${what}: ${typeof expected === 'string' ? expected : expected.join(', version ')}`, () => {
			const site = new MemorySite();
			apply(site, change('x1', { status: 'completed' }));
			if (typeof expected === 'string') refused(site, expected, deletion(further));
			else assert.deepEqual(apply(site, deletion(further)), [expected]);
		});
	}

	test('is not there any more, until an update brings it back as the next version', () => {
		const site = new MemorySite();
		apply(site, change('x1', { status: 'completed' }));
		assert.deepEqual(apply(site, deletion()), [[204, 2]]);
		assert.equal(site.set.row('Procedure', rowIdOf('x1')), undefined);
		assert.deepEqual(site.set.rows('Procedure'), []);
		assert.deepEqual(apply(site, deletion({ ifMatch: ['1'] })), [[204, 2]], 'the request may be repeated');
		refused(site, 'precondition-failed', deletion({ ifMatch: ['3'] }));
		refused(site, 'gone', change('x1', {}, { interaction: 'patch' }));
		refused(site, 'precondition-failed', change('x1', {}, { ifMatch: ['1'] }));
		assert.deepEqual(apply(site, change('x1', {}, { ifMatch: ['2'], mayCreate: false })), [[201, 3]], 'its id is known');
		assert.deepEqual(apply(site, deletion()), [[204, 4]]);
		assert.deepEqual(apply(site, change('x1', {}, { ifNoneMatch: true })), [[201, 5]]);
		assert.deepEqual(apply(site, deletion()), [[204, 6]]);
		assert.deepEqual(apply(site, change('x1', {}, { condition: search() })), [[201, 7]], 'a condition does not find it');
	});

	test('in a transaction: not also written by it, and not deleted when another entry is refused', () => {
		const site = new MemorySite();
		apply(site, change('x1', { a: 1 }));
		refused(site, 'invalid', deletion(), change('x1', { a: 2 }));
		refused(site, 'not-found', deletion(), change('x2', {}, { interaction: 'patch' }));
		assert.deepEqual(apply(site, change('x2', {}), deletion()), [
			[201, 1],
			[204, 2],
		]);
	});
});
