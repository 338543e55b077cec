import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { readCodeSystem, readValueSet } from '#fhir/terminology/read-terms.ts';
import { Terminology } from '#fhir/terminology/value-sets.ts';

const animals = readCodeSystem({
	resourceType: 'CodeSystem',
	url: 'urn:animals',
	name: 'Animals',
	content: 'complete',
	concept: [
		{
			code: 'mammal',
			display: 'Mammal',
			concept: [{ code: 'cat', display: 'Cat', concept: [{ code: 'lynx', display: 'Lynx' }] }, { code: 'dog' }],
		},
		{ code: 'bird', display: 'Bird' },
	],
});
const partial = readCodeSystem({
	resourceType: 'CodeSystem',
	url: 'urn:partial',
	name: 'P',
	content: 'fragment',
	concept: [{ code: 'p' }],
});
const folded = readCodeSystem({
	resourceType: 'CodeSystem',
	url: 'urn:folded',
	name: 'F',
	content: 'complete',
	caseSensitive: false,
	concept: [{ code: 'Ab' }],
});

const sets = [
	['all', { include: [{ system: 'urn:animals' }] }],
	['listed', { include: [{ system: 'urn:animals', concept: [{ code: 'cat' }, { code: 'bird', display: 'A bird' }] }] }],
	['cats', { include: [{ system: 'urn:animals', filter: [{ property: 'concept', op: 'is-a', value: 'cat' }] }] }],
	['below', { include: [{ system: 'urn:animals', filter: [{ property: 'concept', op: 'descendent-of', value: 'mammal' }] }] }],
	['without', { include: [{ system: 'urn:animals' }], exclude: [{ valueSet: ['urn:vs:cats'] }] }],
	['both', { include: [{ valueSet: ['urn:vs:listed', 'urn:vs:below'] }] }],
	['either', { include: [{ valueSet: ['urn:vs:cats'] }, { system: 'urn:animals', concept: [{ code: 'bird' }] }] }],
	['partial', { include: [{ system: 'urn:partial' }] }],
	['elsewhere', { include: [{ system: 'urn:elsewhere' }] }],
	['property', { include: [{ system: 'urn:animals', filter: [{ property: 'legs', op: '=', value: '4' }] }] }],
	['folded', { include: [{ system: 'urn:folded' }] }],
	['circle', { include: [{ valueSet: ['urn:vs:circle'] }] }],
] as const;

const valueSets = new Map(
	sets.map(([name, compose]) => {
		const url = `urn:vs:${name}`;
		return [url, readValueSet({ resourceType: 'ValueSet', url, name, compose: JSON.parse(JSON.stringify(compose)) })];
	}),
);
valueSets.set(
	'urn:vs:expanded',
	readValueSet({
		resourceType: 'ValueSet',
		url: 'urn:vs:expanded',
		name: 'E',
		compose: { include: [{ system: 'urn:elsewhere' }] },
		expansion: {
			contains: [{ system: 'urn:elsewhere', code: 'one', display: 'One', contains: [{ system: 'urn:elsewhere', code: 'two' }] }],
		},
	}),
);

const terms = new Terminology({
	codeSystem: (url) => [animals, partial, folded].find((system) => system.url === url),
	valueSet: (url) => valueSets.get(url),
	versions: () => [],
});

const expansions: [string, string[] | undefined][] = [
	['all', ['mammal Mammal', 'cat Cat', 'lynx Lynx', 'dog dog', 'bird Bird']],
	['listed', ['cat Cat', 'bird A bird']],
	['cats', ['cat Cat', 'lynx Lynx']],
	['below', ['cat Cat', 'lynx Lynx', 'dog dog']],
	['without', ['mammal Mammal', 'dog dog', 'bird Bird']],
	['both', ['cat Cat']],
	['either', ['cat Cat', 'lynx Lynx', 'bird Bird']],
	['expanded', ['one One', 'two two']],
	['partial', undefined],
	['elsewhere', undefined],
	['property', undefined],
	['circle', undefined],
	['nowhere', undefined],
];

describe('a value set', () => {
	for (const [name, codes] of expansions) {
		test(`${name} is expanded ${codes === undefined ? 'not at all' : `to ${codes.length}`}`, () => {
			assert.deepEqual(
				terms.expand(`urn:vs:${name}`)?.map(({ code, display }) => `${code} ${display}`),
				codes,
			);
		});
		test(`${name} has what its expansion has`, () => {
			const members = new Set(codes?.map((code) => code.split(' ')[0]));
			for (const code of codes === undefined ? [] : ['mammal', 'cat', 'lynx', 'dog', 'bird', 'one', 'two', 'fish']) {
				const system = ['one', 'two'].includes(code) ? 'urn:elsewhere' : 'urn:animals';
				assert.equal(terms.member(`urn:vs:${name}`, system, code), members.has(code), code);
				assert.equal(terms.member(`urn:vs:${name}`, undefined, code), members.has(code), code);
				assert.equal(terms.member(`urn:vs:${name}`, 'urn:third', code), false, code);
			}
		});
	}

	test('that cannot be expanded may still know some codes', () => {
		assert.deepEqual(
			[terms.member('urn:vs:partial', 'urn:partial', 'p'), terms.member('urn:vs:partial', 'urn:partial', 'q')],
			[true, undefined],
		);
		assert.equal(terms.member('urn:vs:elsewhere', 'urn:elsewhere', 'x'), undefined);
		assert.equal(terms.member('urn:vs:elsewhere', 'urn:animals', 'cat'), false);
		assert.equal(terms.member('urn:vs:nowhere', 'urn:animals', 'cat'), undefined);
		assert.equal(terms.member('urn:vs:circle', 'urn:animals', 'cat'), undefined);
	});

	test('minds case as its code system does', () => {
		assert.deepEqual([terms.member('urn:vs:folded', 'urn:folded', 'aB'), terms.member('urn:vs:all', 'urn:animals', 'Cat')], [true, false]);
	});
});

/** A terminology over sets of parts alone, and how often each set was asked for. */
function counted(composes: Readonly<Record<string, object>>): { terms: Terminology; asked: Map<string, number> } {
	const definitions = new Map(
		Object.entries(composes).map(([url, compose]) => [
			url,
			readValueSet({ resourceType: 'ValueSet', url, name: url, compose: JSON.parse(JSON.stringify(compose)) }),
		]),
	);
	const asked = new Map<string, number>();
	const terms = new Terminology({
		codeSystem: () => undefined,
		valueSet: (canonical) => {
			const [url = ''] = canonical.split('|');
			asked.set(url, (asked.get(url) ?? 0) + 1);
			return definitions.get(url);
		},
		versions: () => [],
	});
	return { terms, asked };
}

const one = { system: 'urn:s', concept: [{ code: 'one' }] };

describe('value sets that include each other', () => {
	const chain = Object.fromEntries(
		Array.from({ length: 20 }, (_, level) => {
			const next = `urn:${level + 1}`;
			return [`urn:${level}`, { include: level === 19 ? [one] : [{ valueSet: [next] }, { valueSet: [next, next] }] }];
		}),
	);

	test('are each evaluated once, on every way that leads to them', () => {
		for (const ask of [
			(terms: Terminology) => assert.deepEqual(terms.expand('urn:0'), [{ system: 'urn:s', code: 'one', display: 'one' }]),
			(terms: Terminology) => assert.equal(terms.member('urn:0', 'urn:s', 'one'), true),
			(terms: Terminology) => assert.equal(terms.member('urn:0', 'urn:s', 'two'), false),
		]) {
			const { terms, asked } = counted(chain);
			ask(terms);
			assert.deepEqual([asked.size, ...new Set(asked.values())], [20, 1]);
		}
	});

	test('in a circle are not known, by however many names one set includes itself', () => {
		const valueSet = Array.from({ length: 50 }, (_, index) => `urn:self|${index}`);
		const { terms, asked } = counted({ 'urn:self': { include: [{ valueSet }, one] }, 'urn:a': { include: [{ valueSet: ['urn:self'] }] } });
		assert.equal(terms.expand('urn:a'), undefined);
		assert.ok((asked.get('urn:self') ?? 0) <= 51, `${asked.get('urn:self')} times`);
		assert.equal(terms.member('urn:a', 'urn:s', 'two'), undefined);
		assert.equal(terms.member('urn:a', 'urn:s', 'one'), true);
	});

	test('are refused as too costly when they make too much work together', () => {
		const concept = Array.from({ length: 40_000 }, (_, index) => ({ code: `c${index}`, display: 'x' }));
		const levels = Array.from({ length: 200 }, (_, index) => ({ valueSet: ['urn:many', `urn:many|${index}`] }));
		const { terms } = counted({ 'urn:many': { include: [{ system: 'urn:s', concept }] }, 'urn:all': { include: levels } });
		assert.throws(() => terms.expand('urn:all'), { name: 'Failure', code: 'too-costly' });
		assert.equal(terms.expand('urn:many')?.length, 40_000);
		const names = Array.from({ length: 5000 }, (_, index) => ({ valueSet: [`urn:none|${index}`] }));
		const wide = counted({ 'urn:wide': { include: names } });
		assert.equal(wide.terms.member('urn:wide', 'urn:s', 'one'), undefined);
		assert.ok((wide.asked.get('urn:none') ?? 0) < 5000);
	});
});
