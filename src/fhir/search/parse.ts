import { Failure } from '#core/failure.ts';
import type { SearchPlan } from '#record/search-plan.ts';
import type { ResourceDefinition, SearchParameter } from '../resource.ts';
import { clauseOf } from './clause.ts';

export interface SearchLimits {
	searchCountDefault: number;
	searchCountMax: number;
	searchParametersMax: number;
}

export interface SearchOptions {
	limits: SearchLimits;
	/** `Prefer: handling=lenient`: unknown parameters are ignored. */
	lenient: boolean;
	/** The FHIR base URL, without a slash at its end. */
	base: string;
}

export interface ParsedSearch {
	plan: Omit<SearchPlan, 'after'>;
	/** Opaque cursor of the page before, when the request carries one. */
	cursor: string | undefined;
	/** The parameters that were applied, in their order, without the cursor: what the self link shows and a cursor is bound to. */
	applied: [string, string][];
	/** How to answer: matches, or only their number. */
	summary: 'matches' | 'count';
	/** Whether the number of all matches is asked for. */
	total: boolean;
}

/** Bears the cursor in `next` links. */
export const cursorParameter = '_cursor';

/** What every resource type can be searched by. */
export const commonParameters: Readonly<Record<string, SearchParameter>> = {
	_id: { type: 'token', match: 'id', documentation: 'The id that the service assigned' },
};

/**
 * Reads a search (FHIR R4 §3.1.1): repeats of a parameter are all required, values between commas are alternatives.
 * @throws Failure `not-supported` naming unknown parameters, unless they are to be ignored; `invalid` for a bad value
 */
export function parseSearch(definition: ResourceDefinition, query: string, options: SearchOptions): ParsedSearch {
	const pairs = [...new URLSearchParams(query)];
	const { searchParametersMax, searchCountDefault } = options.limits;
	if (pairs.length > searchParametersMax) throw new Failure('invalid', `a search takes at most ${searchParametersMax} parameters`);
	const search: ParsedSearch = {
		plan: { resourceType: definition.type, table: definition.table.table, clauses: [], count: searchCountDefault },
		cursor: undefined,
		applied: [],
		summary: 'matches',
		total: false,
	};
	const unknown = new Set<string>();
	const seen = new Set<string>();
	for (const [name, value] of pairs) {
		const parameter = parameterOf(definition, name);
		if (parameter !== undefined) {
			const clause = clauseOf(name, parameter, value, options.base);
			if (clause === undefined) continue;
			search.plan.clauses.push(clause);
			search.applied.push([name, value]);
		} else if (!Object.hasOwn(resultParameters, name)) {
			unknown.add(printable(name));
		} else if (value !== '') {
			if (seen.has(name)) throw invalid(name, 'stands more than once');
			seen.add(name);
			resultParameters[name]?.(search, value, options.limits);
		}
	}
	if (unknown.size > 0 && !options.lenient) throw unknownParameters(definition, [...unknown]);
	return search;
}

function parameterOf(definition: ResourceDefinition, name: string): SearchParameter | undefined {
	if (Object.hasOwn(definition.search, name)) return definition.search[name];
	return Object.hasOwn(commonParameters, name) ? commonParameters[name] : undefined;
}

/** Parameters that shape the answer (FHIR R4 §3.1.1.5), each reading its value into the search. */
const resultParameters: Readonly<Record<string, (search: ParsedSearch, value: string, limits: SearchLimits) => void>> = {
	[cursorParameter]: (search, value) => {
		search.cursor = value;
	},
	_count: (search, value, limits) => {
		if (!/^\d{1,9}$/.test(value)) throw invalid('_count', 'is not a whole number');
		const count = Math.min(Number(value), limits.searchCountMax);
		search.plan.count = count;
		if (count === 0) search.summary = 'count';
		search.applied.push(['_count', String(count)]);
	},
	_summary: (search, value) => {
		if (value !== 'count' && value !== 'false') {
			throw new Failure('not-supported', "_summary takes 'count' or 'false' here", { location: { expression: '_summary' } });
		}
		if (value === 'count') search.summary = 'count';
		search.applied.push(['_summary', value]);
	},
	_total: (search, value) => {
		if (!['none', 'accurate', 'estimate'].includes(value)) throw invalid('_total', "takes 'none', 'accurate' or 'estimate'");
		search.total = value !== 'none';
		search.applied.push(['_total', value]);
	},
	_format: (search, value) => {
		search.applied.push(['_format', value]);
	},
};

function invalid(name: string, fault: string): Failure {
	return new Failure('invalid', `${name} ${fault}`, { location: { expression: name } });
}

function unknownParameters(definition: ResourceDefinition, names: readonly string[]): Failure {
	const shown = names.slice(0, 8).map((name) => `'${name}'`);
	const more = names.length > shown.length ? ` and ${names.length - shown.length} more` : '';
	return new Failure('not-supported', `${definition.type} has no search parameter ${shown.join(', ')}${more}`);
}

/** A name that somebody made up goes back to him, but not its control characters or a page of it. */
function printable(name: string): string {
	return name.replace(/[^\x20-\x7e]/g, '?').slice(0, 64);
}
