import { Failure } from '#core/failure.ts';
import type { AnyInclusion, Clause, ElementInclusion, Inclusion, ReferringInclusion, SearchPlan, SortKey } from '#record/search-plan.ts';
import { termTexts } from '#record/search-term.ts';
import type { ResourceDefinition, SearchParameter } from '../resource.ts';
import { definitionOf, resources } from '../resources/index.ts';
import { placesOf, type ReferenceParameter } from './divided-reference.ts';
import { ledByReference } from './lead.ts';
import { namesResources } from './named.ts';
import { parameterOf } from './parameter.ts';
import type { Iteration, ParsedSearch, SearchLimits } from './parsed-search.ts';

/** The parameter that holds the cursor in `next` links. */
export const cursorParameter = '_cursor';

type Reading = (search: ParsedSearch, value: string, definition: ResourceDefinition, limits: SearchLimits) => void;

/** Parameters that shape the answer (FHIR R4 §3.1.1.5). Each reads its value into the search. */
export const resultParameters: Readonly<Record<string, Reading>> = {
	[cursorParameter]: (search, value) => {
		search.cursor = value;
	},
	_count: (search, value, _definition, limits) => {
		if (!/^\d{1,9}$/.test(value)) throw invalid('_count', 'is not a whole number');
		const count = Math.min(Number(value), limits.searchCountMax);
		search.plan.count = count;
		if (count === 0) search.counting = true;
		search.applied.push(['_count', String(count)]);
	},
	_summary: (search, value) => {
		if (value === 'count') search.counting = true;
		else if (value === 'true' || value === 'text' || value === 'data') search.shape = { kind: value };
		else if (value !== 'false') throw invalid('_summary', "takes 'true', 'text', 'data', 'count' or 'false'");
		search.applied.push(['_summary', value]);
	},
	_elements: (search, value, definition) => {
		const elements = value.split(',').map((element) => element.trim().replace(new RegExp(`^${definition.type}\\.`), ''));
		if (elements.some((element) => !/^[A-Za-z_]\w{0,63}$/.test(element)))
			throw invalid('_elements', 'must be names of elements, separated by commas');
		search.shape = { kind: 'elements', elements };
		search.applied.push(['_elements', value]);
	},
	_total: (search, value) => {
		if (!['none', 'accurate', 'estimate'].includes(value)) throw invalid('_total', "takes 'none', 'accurate' or 'estimate'");
		search.total = value !== 'none';
		search.applied.push(['_total', value]);
	},
	_sort: (search, value, definition) => {
		search.plan.sort = value
			.split(',')
			.filter((key) => key !== '')
			.map((key) => sortKey(definition, key));
		if (search.plan.sort.length > 8) throw invalid('_sort', 'may have at most 8 keys');
		search.applied.push(['_sort', value]);
	},
	_format: (search, value) => {
		search.applied.push(['_format', value]);
	},
	/** Answers are never indented, so `_pretty` is accepted and has no effect. */
	_pretty: () => undefined,
};

/** They may be repeated. With `:iterate` an inclusion is applied to what was included as well. */
export const inclusionParameters: Readonly<Record<string, { direction: Inclusion['direction']; iterates: boolean }>> = {
	_include: { direction: 'forward', iterates: false },
	_revinclude: { direction: 'reverse', iterates: false },
	'_include:iterate': { direction: 'forward', iterates: true },
	'_revinclude:iterate': { direction: 'reverse', iterates: true },
};

export function invalid(name: string, fault: string): Failure {
	return new Failure('invalid', `${name} ${fault}`, { location: { expression: name } });
}

function sortKey(definition: ResourceDefinition, key: string): SortKey {
	const descending = key.startsWith('-');
	const name = descending ? key.slice(1) : key;
	const parameter = parameterOf(definition, name);
	const column = parameter && sortColumn(parameter);
	if (column === undefined) {
		throw new Failure('not-supported', `${definition.type} cannot be sorted by '${name.replace(/[^\x20-\x7e]/g, '?').slice(0, 64)}'`, {
			location: { expression: '_sort' },
		});
	}
	return { ...column, descending };
}

/** Returns the column for sorting: only parameters with a column can sort, by the start of a range or the first coding. */
export function sortColumn(parameter: SearchParameter): Omit<SortKey, 'descending'> | undefined {
	switch (parameter.type) {
		case 'date':
			if (parameter.match === 'element') return undefined;
			if (parameter.match === 'moment') return { column: parameter.column, columnType: 'timestamptz', nullable: false };
			return { column: parameter.startColumn, columnType: parameter.columnType, nullable: true };
		case 'string':
			return parameter.match === 'substring' ? { column: parameter.column, columnType: 'text', nullable: false } : undefined;
		case 'token':
			if (parameter.match === 'id') return { column: 'id', columnType: 'uuid', nullable: false };
			if (parameter.match === 'code') return { column: parameter.column, columnType: 'text', nullable: true };
			return parameter.match === 'coding' ? { column: parameter.valueColumn, columnType: 'text', nullable: true } : undefined;
		default:
			return undefined;
	}
}

/**
 * Parses `Observation:patient`, `Observation:subject:Patient`, `Observation:*` or `*` (§3.1.1.5.4). References to types that are not served
 * include nothing.
 * @throws Failure for an unknown type, parameter or form
 */
export function inclusionsOf(
	definition: ResourceDefinition,
	direction: Inclusion['direction'],
	name: string,
	value: string,
): AnyInclusion[] {
	const [source = '', parameterName = '*', target] = value.split(':');
	const sources = source === '*' ? allSources(definition, direction) : [definitionOf(source)];
	return sources.flatMap((from) => {
		if (from === undefined || (direction === 'forward' && from.type !== definition.type)) throw unknown(name);
		const parameters = references(from, parameterName, name);
		return parameters.flatMap((parameter) => inclusionsBy(parameter, { definition, direction, source: from, target }));
	});
}

/**
 * Parses the value of `_include:iterate` or `_revinclude:iterate`: `<type>:<reference parameter>` of any type, because a resource of that type
 * may come to the page by another inclusion. Each result is applied to the resources of the type `of`.
 * @throws Failure for an unknown type, parameter or form
 */
export function iterationsOf(direction: Inclusion['direction'], name: string, value: string): Iteration[] {
	const [source = '', parameterName = '*', target] = value.split(':');
	const from = definitionOf(source);
	if (from === undefined) throw unknownIteration(name);
	const parameters = references(from, parameterName, name);
	return parameters.flatMap((parameter) => {
		if (parameter.type !== 'reference') return [];
		const starts = direction === 'forward' ? [from] : parameter.targets.flatMap((type) => definitionOf(type) ?? []);
		return starts.flatMap((definition) =>
			inclusionsBy(parameter, { definition, direction, source: from, target }).map((inclusion) => ({ of: definition.type, inclusion })),
		);
	});
}

function unknownIteration(name: string): Failure {
	return new Failure('not-supported', `${name} takes <type>:<reference parameter>, or <type>:*`, { location: { expression: name } });
}

function allSources(definition: ResourceDefinition, direction: Inclusion['direction']): ResourceDefinition[] {
	return direction === 'forward' ? [definition] : Object.values(resources);
}

function unknown(name: string): Failure {
	return new Failure('not-supported', `${name} takes <type>:<reference parameter>, or *`, { location: { expression: name } });
}

function references(from: ResourceDefinition, parameterName: string, name: string): SearchParameter[] {
	if (parameterName === '*') return Object.values(from.search).filter(({ type }) => type === 'reference');
	const parameter = Object.hasOwn(from.search, parameterName) ? from.search[parameterName] : undefined;
	if (parameter?.type !== 'reference') throw unknown(name);
	return [parameter];
}

interface Including {
	/** The type that is searched. */
	definition: ResourceDefinition;
	direction: Inclusion['direction'];
	/** The type that has the parameter. */
	source: ResourceDefinition;
	/** The only type to include, if one is named. */
	target?: string | undefined;
}

/** Returns what a parameter includes; nothing where it can find nothing. */
export function inclusionsBy(parameter: SearchParameter, including: Including): AnyInclusion[] {
	if (parameter.type !== 'reference') return [];
	return placesOf(parameter).flatMap((place) => inclusionsFrom(place, including));
}

function inclusionsFrom(parameter: ReferenceParameter, { definition, direction, source, target }: Including): AnyInclusion[] {
	if (parameter.match === 'element') {
		if (direction === 'forward') return elementInclusions([parameter.path.split('.').slice(1, -1)], parameter.targets, target);
		const { path, lead } = parameter;
		// A canonical URL names no row.
		if (!namesResources(parameter) || !parameter.targets.includes(definition.type)) return [];
		if (target !== undefined && target !== definition.type) return [];
		const referring = { direction: 'referring' as const, referredType: definition.type, path, ...(lead === undefined ? {} : { lead }) };
		return [{ ...referring, includedType: source.type, includedTable: source.table.table }];
	}
	if (parameter.match === 'term') {
		if (direction === 'forward') return elementInclusions(parameter.walks, parameter.targets, target);
		// A canonical URL names no row, so nothing is found by it in this direction.
		if (!namesResources(parameter) || !parameter.targets.includes(definition.type)) return [];
		if (target !== undefined && target !== definition.type) return [];
		const prefix = termTexts.rowPrefix(parameter.scope, definition.type);
		return [{ direction: 'term', prefix, includedType: source.type, includedTable: source.table.table }];
	}
	const to = definitionOf(parameter.targets[0]);
	if (to === undefined || (target !== undefined && target !== to.type)) return [];
	const prefix = parameter.lead === undefined ? {} : { prefix: termTexts.rowPrefix(parameter.lead, to.type) };
	const link = { table: source.table.table, column: parameter.column, ...prefix };
	if (direction === 'forward') return [{ direction, ...link, includedType: to.type, includedTable: to.table.table }];
	if (to.type !== definition.type) return [];
	return [{ direction, ...link, includedType: source.type, includedTable: source.table.table }];
}

/** Returns the search for what refers to the resources of the ids. */
export function referringPlan(
	{ referredType, path, lead, includedType, includedTable, reached = [] }: ReferringInclusion,
	ids: readonly string[],
	{ rowsMax, extent }: { rowsMax: number; extent: SearchPlan['extent'] },
): SearchPlan {
	const values = ids.map((id) => `${referredType}/${id}`);
	const refers: Clause = { kind: 'element', paths: [path], test: { kind: 'reference', values } };
	const clause = lead === undefined ? refers : ledByReference({ type: includedType, table: includedTable, lead, values }, refers);
	return {
		resourceType: includedType,
		table: includedTable,
		clauses: [...reached, clause],
		sort: [],
		count: rowsMax,
		after: undefined,
		extent,
	};
}

/** Follows `$.hasMember.reference` and the like to served types. */
function elementInclusions(
	walks: readonly (readonly string[])[],
	targets: readonly string[],
	target: string | undefined,
): ElementInclusion[] {
	return targets.flatMap((type) => {
		const definition = definitionOf(type);
		if (definition === undefined || (target !== undefined && target !== type)) return [];
		const included = { direction: 'element' as const, includedType: definition.type, includedTable: definition.table.table };
		return walks.map((path) => ({ ...included, path }));
	});
}
