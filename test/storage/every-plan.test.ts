import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import pg from 'pg';
import { newId } from '#core/id.ts';
import { compartmentClause, compartments, membershipOf } from '#fhir/compartment.ts';
import type { ResourceDefinition, SearchParameter } from '#fhir/resource.ts';
import { definitionOf, resources } from '#fhir/resources/index.ts';
import { dividedReference } from '#fhir/search/divided-reference.ts';
import { namesResources } from '#fhir/search/named.ts';
import { commonParameters } from '#fhir/search/parameter.ts';
import { parseSearch } from '#fhir/search/parse.ts';
import { inclusionsBy, referringPlan, sortColumn } from '#fhir/search/result.ts';
import type { AnyInclusion, SearchPlan } from '#record/search-plan.ts';
import { inlined } from '#storage/statements/inlined.ts';
import type { Query } from '#storage/statements/parameters.ts';
import {
	countQuery,
	type InclusionBounds,
	inclusionQuery,
	rowsQuery,
	searchQuery,
	termInclusionQuery,
} from '#storage/statements/search-resources.ts';
import { type TestDatabase, testDatabase } from '#test/support/database.ts';
import type { PlanNode } from '#test/support/plan.ts';
import { plannedType, seedOf } from '#test/support/planned-sites.ts';
import { defaultLimits } from '../../src/limits.ts';

/**
 * The plan of every search parameter of every type, from the table that makes the capability statement, in a database of PLANNED_PATIENTS
 * patients (20,000; `npm run test:plans` takes 100,000) in three sites. None may read a table of resources from end to end, nor walk through
 * all rows of a site, but for the exceptions below.
 */
const patients = Number(process.env['PLANNED_PATIENTS'] ?? 20_000);
const siteId = '00000000-0000-4000-8000-000000000001';
const rowId = '00000000-0000-4000-9000-000000000001';

/** Searches that walk through a site in the order of the page, and why. */
const walks: readonly [RegExp, string][] = [
	[/:not=|:missing=true/, 'a negation leaves out the smaller part, so a page is full after few rows'],
	[/(_id|_lastUpdated):missing=false/, 'every resource has one'],
	[
		/^\w+\?(patient|subject|code|date|status|clinical-status|class|type|gender|name|family|given|birthdate|started|identifier|accession|modality|dicom-class|series|instance):missing=false/,
		'nearly every row has one',
	],
	[
		/^(Patient\?identifier|\w+\?code|DocumentReference\?type):text=/,
		'a part of the text of a code or a type is looked for in the resources that other parameters leave',
	],
];

/**
 * Sort keys without an index in their order: what the search matches is read and sorted. An index for each would cost every message about one
 * per cent.
 */
const sortsWithoutIndex: readonly string[] = [
	'Patient.name',
	'Condition.onset-date',
	'Condition.recorded-date',
	'AllergyIntolerance.date',
	'Observation.status',
	'Observation.date',
	'Procedure.status',
	'Procedure.date',
	'DiagnosticReport.date',
	'DiagnosticReport.issued',
	'DocumentReference.status',
	'DocumentReference.date',
	'ImagingStudy._lastUpdated',
	'ImagingStudy.status',
	'Encounter.class',
	'Encounter.date',
];

let database: TestDatabase;
let client: pg.Client;

before(async () => {
	database = await testDatabase();
	client = new pg.Client({ connectionString: database.url });
	await client.connect();
	for (const statement of seedOf(patients)) await client.query(statement);
});

after(async () => {
	await client.end();
	await database[Symbol.asyncDispose]();
});

/** Tables of a few rows for each site, or none. */
const small = ['search_progress', 'site', 'site_turn', 'authority_alias', 'written_imaging_study'];

/** Of few rows for each site, or an index of few. A bitmap scan of an index names no table. */
const isOfFewRows = (relation: string, index: string) =>
	small.some((table) => relation === table || index.startsWith(`${table}_`)) || /_meta$|_date_values$/.test(index);

function faultsIn(node: PlanNode, above?: PlanNode): string[] {
	const { 'Node Type': type, 'Relation Name': relation = '', 'Index Name': index = '', 'Index Cond': condition = '' } = node;
	// The walk that a search chooses while many rows are not in the index of elements (`behind`).
	if (/^\(InitPlan \d+\)\.col1$/.test(node['One-Time Filter'] ?? '')) return [];
	const faults = (node.Plans ?? []).flatMap((child) => faultsIn(child, node));
	// So many rows and no more, whatever they are.
	if (above?.['Node Type'] === 'Limit' && (node.Filter ?? '(NOT deleted)') === '(NOT deleted)') return faults;
	if (type.includes('Seq Scan') && !small.includes(relation)) faults.push(`reads ${relation} from end to end`);
	// A walk through a site has no other condition than the site, the type, and the row after which the page begins.
	const further = condition
		.split(' AND ')
		.filter((part) => !/\bsite_id = |\bresource_type = |\bid > '00000000-0000-0000-0000-000000000000'/.test(part) && part !== '');
	if (/^(Index|Index Only|Bitmap Index) Scan$/.test(type) && further.length === 0 && !isOfFewRows(relation, index)) {
		faults.push(`walks through a site by ${index}`);
	}
	return faults;
}

/** Rows of one type stand for those of every type in the shared table. */
const asPlanned = (statement: string) =>
	statement.replace(/resource_type = '(\w+)'/g, (text, type) =>
		definitionOf(type)?.table.isShared ? `resource_type = '${plannedType}'` : text,
	);

/** Statements that differ in their values alone. */
const known = new Map<string, string[]>();

async function faultsOf(query: Query): Promise<string[]> {
	const values = query.values.map((value) => (Array.isArray(value) ? Math.min(value.length, 30) : typeof value)).join();
	const shape = `${asPlanned(query.statement.text)} ${values}`;
	const faults = known.get(shape) ?? (await plannedFaultsOf(query));
	known.set(shape, faults);
	return faults;
}

async function plannedFaultsOf(query: Query): Promise<string[]> {
	return faultsIn(await nodeOf(query));
}

async function nodeOf(query: Query): Promise<PlanNode> {
	const { rows } = await client.query(`explain (format json) ${asPlanned(inlined(query))}`);
	return rows[0]['QUERY PLAN'][0].Plan;
}

/** Tells whether rows of a whole site are sorted, rather than walked through in the order of an index up to a limit. */
function isSortedWhole(node: PlanNode, isSorted: boolean): boolean {
	// Rows without a value are selected only as far as those with one do not fill the page.
	if ([node.Filter, node['Index Cond']].some((condition) => condition?.includes('IS NULL'))) return false;
	const isBelowSort = node['Node Type'] === 'Limit' ? false : isSorted || node['Node Type'].includes('Sort');
	if (isBelowSort && faultsIn({ ...node, Plans: [] }).length > 0) return true;
	return (node.Plans ?? []).some((child) => isSortedWhole(child, isBelowSort));
}

function planOf(definition: ResourceDefinition, query: string): SearchPlan {
	const { plan } = parseSearch(definition, query, { limits: defaultLimits, lenient: false, base: 'http://h/fhir', scopes: undefined });
	return { ...plan, after: undefined };
}

const isExcepted = (query: string) => walks.some(([pattern]) => pattern.test(query));

async function searchFaults(definition: ResourceDefinition, query: string): Promise<string[]> {
	const name = `${definition.type}?${query}`;
	if (isExcepted(name)) return [];
	const plan = planOf(definition, query);
	const faults: string[] = [];
	for (const form of ['short', 'bounded'] as const) faults.push(...(await faultsOf(searchQuery(siteId, plan, 1_000_000, form))));
	faults.push(...(await faultsOf(countQuery(siteId, plan))));
	return [...new Set(faults)].map((fault) => `${name} ${fault}`);
}

/** Values that few resources have. */
const samples: Readonly<Record<Exclude<SearchParameter['type'], 'composite' | 'special'>, readonly string[]>> = {
	token: ['=rare', '=urn:s|rare', '=rare,rarer'],
	reference: [`=${rowId}`],
	string: ['=Rarely', ':exact=Rarely', ':contains=rarely'],
	date: ['=2031-05-05', '=gt2098', '=lt1902-01-01', '=2031-05-05,2033-01-01'],
	quantity: ['=53.27', '=gt987654321', '=lt-99999||mg'],
	number: ['=53.27', '=gt987654321'],
	uri: ['=http://example.org/rare'],
};

/** Searches by the parameter alone. Of a type whose rows share a table with others, the first of each is enough: its parameters are made alike. */
function queriesOf(definition: ResourceDefinition, name: string, parameter: SearchParameter): string[] {
	if (parameter.type === 'special') return [`${name}=${rowId}`];
	if (parameter.type === 'composite') {
		const parts = parameter.components.map((component) => samples[kindOf(definition, component)][0]?.slice(1));
		return [`${name}=${parts.join('$')}`];
	}
	// A sound has no modifiers.
	if (parameter.type === 'string' && parameter.match === 'sound') return [`${name}=Rarely`];
	const values = parameter.type === 'reference' && name !== 'patient' ? referencesOf(parameter) : samples[parameter.type];
	return (definition.table.isShared ? values.slice(0, 1) : values).map((sample) => `${name}${sample}`);
}

function referencesOf(parameter: SearchParameter & { type: 'reference' }): string[] {
	const [target = 'Patient', other] = parameter.targets;
	if (dividedReference(parameter) !== undefined)
		return [`=${target}/${rowId}`, `=${other}/${rowId}`, `=${rowId}`, `=${target}/${rowId},${other}/${rowId}`, ':identifier=urn:s|rare'];
	const byIdentifier = parameter.match === 'column' && parameter.path === undefined ? [] : [':identifier=urn:s|rare'];
	return [`=${target}/${rowId}`, ...(parameter.match === 'column' ? [] : byIdentifier)];
}

function kindOf(definition: ResourceDefinition, name: string): keyof typeof samples {
	const kind = definition.search[name]?.type ?? 'token';
	return kind === 'composite' || kind === 'special' ? 'token' : kind;
}

/** Through a canonical URL no search leads. */
const named = (parameter: SearchParameter) =>
	(parameter.type === 'reference' && namesResources(parameter) ? parameter.targets : []).flatMap((type) => definitionOf(type) ?? []);

/** Modifiers of a parameter with values that few resources have. */
function modifiedOf(definition: ResourceDefinition, name: string, parameter: SearchParameter): string[] {
	const modified = {
		token: [':text=rare'],
		uri: [':below=http://example.org/rare'],
		string: [],
		reference: [],
		date: [],
		quantity: [],
		number: [],
	};
	if (parameter.type === 'composite' || parameter.type === 'special') return [];
	const all = [...modified[parameter.type], ':missing=false', ':missing=true', ':not=rare'].map((modifier) => `${name}${modifier}`);
	return all.filter((query) => {
		try {
			planOf(definition, query);
			return true;
		} catch (error) {
			assert.equal((error as Error).name, 'Failure');
			return false;
		}
	});
}

describe(`in a database of ${patients} patients an index leads to what is asked for`, () => {
	const check = async (queries: (definition: ResourceDefinition) => string[]) => {
		const faults: string[] = [];
		for (const definition of Object.values(resources)) {
			for (const query of queries(definition)) faults.push(...(await searchFaults(definition, query)));
		}
		assert.deepEqual(faults, []);
	};
	const parametersOf = (definition: ResourceDefinition) => Object.entries({ ...commonParameters, ...definition.search });
	const withParameters =
		(of: (definition: ResourceDefinition, name: string, parameter: SearchParameter) => string[]) => (definition: ResourceDefinition) =>
			parametersOf(definition).flatMap(([name, parameter]) => of(definition, name, parameter));

	test('by every search parameter of every type', () => check(withParameters(queriesOf)));

	test('by modifiers, where these do not leave out', () => check(withParameters(modifiedOf)));

	test('by what a resource refers to', () =>
		check(
			withParameters((_definition, name, parameter) =>
				named(parameter)
					.slice(0, 2)
					.map(({ type, search }) => `${name}:${type}.${search['identifier'] === undefined ? '_tag' : 'identifier'}=rare`)
					.concat(dividedReference(parameter) === undefined ? [] : [`${name}.identifier=urn:s|rare`]),
			),
		));

	test('by what refers to a resource', () =>
		check((definition) =>
			Object.values(resources).flatMap((source) =>
				Object.entries(source.search).flatMap(([name, parameter]) =>
					(source.table.isShared && source.type !== plannedType) || !named(parameter).includes(definition)
						? []
						: [`_has:${source.type}:${name}:_tag=rare`],
				),
			),
		));

	test('in every order, but for those that are named', async () => {
		const without = new Set<string>();
		for (const definition of Object.values(resources)) {
			for (const [name, parameter] of parametersOf(definition)) {
				if (sortColumn(parameter) === undefined) continue;
				for (const key of [name, `-${name}`]) {
					const query = searchQuery(siteId, planOf(definition, `_sort=${key}`), 1_000_000);
					if (isSortedWhole(await nodeOf(query), false)) without.add(`${definition.type}.${name}`);
				}
			}
		}
		assert.deepEqual([...without], sortsWithoutIndex);
	});

	test('of a compartment', async () => {
		const faults: string[] = [];
		const options = { base: '', scopes: undefined, limits: defaultLimits };
		for (const definition of Object.values(resources)) {
			for (const compartment of compartments) {
				if (membershipOf(compartment, definition).length === 0) continue;
				const plan = { ...planOf(definition, ''), clauses: [compartmentClause(compartment, rowId, definition, options)] };
				faults.push(...(await faultsOf(searchQuery(siteId, plan, 1_000_000))).map((fault) => `${compartment}/${definition.type} ${fault}`));
			}
		}
		assert.deepEqual(faults, []);
	});

	function inclusionOf(inclusion: AnyInclusion, ids: readonly string[], bounds: InclusionBounds): Query {
		switch (inclusion.direction) {
			case 'element':
				return rowsQuery(siteId, inclusion, ids, bounds);
			case 'term':
				return termInclusionQuery(siteId, inclusion, ids, bounds);
			case 'referring':
				return searchQuery(siteId, referringPlan(inclusion, ids, bounds), bounds.bytesMax);
			default:
				return inclusionQuery(siteId, inclusion, ids, bounds);
		}
	}

	test('with what is included', async () => {
		const faults: string[] = [];
		const bounds = { rowsMax: 100, bytesMax: 1_000_000, extent: 'whole' } as const;
		const ids = Array.from({ length: 20 }, () => newId());
		for (const source of Object.values(resources)) {
			for (const [name, parameter] of Object.entries(source.search)) {
				for (const definition of new Set([source, ...named(parameter).slice(0, 3)])) {
					for (const direction of ['forward', 'reverse'] as const) {
						for (const inclusion of inclusionsBy(parameter, { definition, direction, source })) {
							const query = inclusionOf(inclusion, ids, bounds);
							faults.push(...(await faultsOf(query)).map((fault) => `${direction} ${source.type}:${name} ${fault}`));
						}
					}
				}
			}
		}
		assert.deepEqual(faults, []);
	});
});
