import { Failure } from '#core/failure.ts';
import { missingScope, type Scopes, scopeName } from '#record/scopes.ts';
import type { ResourceDefinition } from '../resource.ts';
import { scopeClause, withinScopes } from '../scope-clause.ts';
import { extentOf } from '../shape.ts';
import type { Terminology } from '../terminology/value-sets.ts';
import { type ParameterOptions, parameterClause } from './parameter.ts';
import type { Iteration, ParsedSearch, SearchLimits } from './parsed-search.ts';
import { cursorParameter, inclusionParameters, inclusionsOf, invalid, iterationsOf, resultParameters } from './result.ts';
import { searchTerms } from './subsumption.ts';
import { SearchValues } from './values.ts';

export interface SearchOptions {
	limits: SearchLimits;
	/** `Prefer: handling=lenient`: unknown parameters are ignored. */
	lenient: boolean;
	/** The FHIR base URL without a trailing slash. */
	base: string;
	/** The caller may search and include these. Undefined means everything. */
	scopes: Scopes | undefined;
	/** The value sets and code systems of the site, for `:in` and `:below`. Undefined where they are not at hand. */
	terminology?: Terminology | undefined;
}

/**
 * Parses a search (FHIR R4 §3.1.1): repeated parameters must all match, values between commas are alternatives. The plan finds only what the
 * scopes of the caller reach.
 * @throws Failure `not-supported` that names unknown parameters, unless they are to be ignored; `invalid` for a bad value
 */
export function parseSearch(definition: ResourceDefinition, query: string, options: SearchOptions): ParsedSearch {
	const pairs = [...new URLSearchParams(query)];
	const { searchParametersMax, searchValuesMax, searchCountDefault } = options.limits;
	const parameters = pairs.filter(([name]) => name !== cursorParameter);
	if (parameters.length > searchParametersMax) throw new Failure('invalid', `a search may have at most ${searchParametersMax} parameters`);
	// A search that was allowed has links that are, so what shapes its pages does not count.
	const selecting = parameters.filter(([name]) => !Object.hasOwn(resultParameters, name));
	const values = new SearchValues(searchValuesMax);
	values.add(selecting.reduce((sum, [, value]) => sum + value.split(',').length, 0));
	const search: ParsedSearch = {
		plan: {
			resourceType: definition.type,
			table: definition.table.table,
			clauses: [],
			sort: [],
			count: searchCountDefault,
			extent: 'whole',
		},
		inclusions: [],
		iterations: [],
		withheld: [],
		cursor: undefined,
		applied: [],
		counting: false,
		shape: undefined,
		total: false,
	};
	const { terminology } = options;
	const parameterOptions = { ...options, values, terms: terminology && searchTerms(terminology) };
	const unknown = new Set<string>();
	const seen = new Set<string>();
	for (const [name, value] of pairs) {
		if (Object.hasOwn(resultParameters, name)) {
			if (value === '') continue;
			if (seen.has(name)) throw invalid(name, 'is given more than once');
			seen.add(name);
			resultParameters[name]?.(search, value, definition, options.limits);
		} else if (Object.hasOwn(inclusionParameters, name)) {
			readInclusion(search, definition, name, value, options);
		} else if (!readParameter(search, definition, name, value, parameterOptions)) {
			unknown.add(printable(name));
		}
	}
	if (unknown.size > 0 && !options.lenient) throw unknownParameters(definition, [...unknown]);
	const reached = scopeClause(definition, 's', options.scopes, options);
	if (reached !== undefined) search.plan.clauses.push(reached);
	search.plan.extent = extentOf(search.shape);
	return search;
}

/**
 * A resource to which a match refers could be read by its id, and one that refers to a match could be searched. An inclusion that may lead to
 * several types leaves out those that the caller has no scope for, and says so; one that leads to nothing else is refused.
 */
function readInclusion(search: ParsedSearch, definition: ResourceDefinition, name: string, value: string, options: SearchOptions): void {
	if (value === '') return;
	const { direction, iterates } = inclusionParameters[name] ?? {};
	if (direction === undefined) return;
	const permission = direction === 'reverse' ? 's' : 'r';
	const named: Iteration[] = iterates
		? iterationsOf(direction, name, value)
		: inclusionsOf(definition, direction, name, value).map((inclusion) => ({ of: definition.type, inclusion }));
	const permitted = named.flatMap(({ of, inclusion }) => {
		const reached = withinScopes(inclusion, permission, options);
		return reached === undefined ? [] : [{ of, inclusion: reached }];
	});
	const lacking = new Set(
		named
			.filter(({ inclusion }) => withinScopes(inclusion, permission, options) === undefined)
			.map(({ inclusion }) => scopeName(inclusion.includedType, permission)),
	);
	if (permitted.length === 0 && lacking.size > 0) throw missingScope(options.scopes, ...lacking);
	search.withheld = [...new Set([...search.withheld, ...lacking])];
	if (iterates) addNew(search.iterations, permitted);
	else {
		addNew(
			search.inclusions,
			permitted.map(({ inclusion }) => inclusion),
		);
	}
	search.applied.push([name, value]);
}

function addNew<Item>(list: Item[], items: readonly Item[]): void {
	const known = new Set(list.map((item) => JSON.stringify(item)));
	for (const item of items) {
		const text = JSON.stringify(item);
		if (!known.has(text)) list.push(item);
		known.add(text);
	}
}

/** Returns false when there is no such parameter. */
function readParameter(
	search: ParsedSearch,
	definition: ResourceDefinition,
	name: string,
	value: string,
	options: ParameterOptions,
): boolean {
	const clause = parameterClause(definition, name, value, options);
	if (clause === 'unknown') return false;
	if (clause === undefined) return true;
	search.plan.clauses.push(clause);
	search.applied.push([name, value]);
	return true;
}

/** Reports unknown parameters, one issue for each. */
function unknownParameters(definition: ResourceDefinition, names: readonly string[]): Failure {
	const shown = names.slice(0, 8).map((name) => `'${name}'`);
	const more = names.length > shown.length ? ` and ${names.length - shown.length} more` : '';
	const issues = names.slice(0, 50).map((name) => ({
		code: 'not-supported',
		expression: name,
		diagnostics: `${definition.type} has no search parameter '${name}'`,
	}));
	return new Failure('not-supported', `${definition.type} has no search parameter ${shown.join(', ')}${more}`, { issues });
}

/** Makes an unknown name safe to return to the client: without control characters, and shortened. */
function printable(name: string): string {
	return name.replace(/[^\x20-\x7e]/g, '?').slice(0, 64);
}
