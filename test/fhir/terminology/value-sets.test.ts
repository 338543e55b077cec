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
