import { Failure } from '#core/failure.ts';
import type { Condition, SearchPlan } from '#record/search-plan.ts';
import type { ResourceDefinition } from '../resource.ts';
import { conditionOf, splitValues } from './values.ts';

export interface SearchLimits {
	searchCountDefault: number;
	searchCountMax: number;
	searchParametersMax: number;
}

export interface ParsedSearch {
	plan: Omit<SearchPlan, 'after'>;
	/** Opaque cursor of the page before, when the request carries one. */
	cursor: string | undefined;
	/** The parameters that were applied, in their order, without the cursor: what the self link shows and a cursor is bound to. */
	applied: [string, string][];
	/** How to answer: matches, or only their number. */
	summary: 'matches' | 'count';
	total: boolean;
}

/** Bears the cursor in `next` links. */
export const cursorParameter = '_cursor';

/**
 * Reads a search (FHIR R4 §3.1.1): repeats of a parameter are all required, values between commas are alternatives.
 * @throws Failure `not-supported` naming unknown parameters, unless they are to be ignored; `invalid` for a bad value
 */
export function parseSearch(definition: ResourceDefinition, query: string, limits: SearchLimits, lenient: boolean): ParsedSearch {
	const pairs = [...new URLSearchParams(query)];
	if (pairs.length > limits.searchParametersMax)
		throw new Failure('invalid', `a search takes at most ${limits.searchParametersMax} parameters`);
	const search: ParsedSearch = {
		plan: { resourceType: definition.type, table: definition.table.table, clauses: [], count: limits.searchCountDefault },
		cursor: undefined,
		applied: [],
		summary: 'matches',
		total: false,
	};
	const unknown: string[] = [];
	for (const [name, value] of pairs) {
		// A parameter without a value asks for nothing (FHIR R4 §3.1.1.4).
		if (value === '') continue;
		if (!applyParameter(search, definition, name, value, limits)) unknown.push(name);
	}
	if (unknown.length > 0 && !lenient) {
		throw new Failure(
			'not-supported',
			`${definition.type} has no search parameter ${unknown.map((name) => `'${printable(name)}'`).join(', ')}`,
		);
	}
	return search;
}

function applyParameter(search: ParsedSearch, definition: ResourceDefinition, name: string, value: string, limits: SearchLimits): boolean {
	if (applyResultParameter(search, name, value, limits)) return true;
	const clause = clauseOf(definition, name, value);
	if (clause === undefined) return false;
	search.plan.clauses.push(clause);
	search.applied.push([name, value]);
	return true;
}

function clauseOf(definition: ResourceDefinition, name: string, value: string): Condition[] | undefined {
	if (name === '_id') return splitValues(value).map((id) => ({ kind: 'id', column: 'id', value: id }));
	const parameter = Object.hasOwn(definition.search, name) ? definition.search[name] : undefined;
	return parameter && splitValues(value).map((item) => conditionOf(name, parameter, item));
}

function applyResultParameter(search: ParsedSearch, name: string, value: string, limits: SearchLimits): boolean {
	switch (name) {
		case cursorParameter:
			search.cursor = value;
			return true;
		case '_count': {
			const asked = /^\d{1,9}$/.test(value) ? Number(value) : Number.NaN;
			if (Number.isNaN(asked)) throw new Failure('invalid', '_count is not a whole number', { location: { expression: '_count' } });
			search.plan.count = Math.min(asked, limits.searchCountMax);
			if (asked === 0) search.summary = 'count';
			search.applied.push([name, String(search.plan.count)]);
			return true;
		}
		case '_summary':
			if (value !== 'count' && value !== 'false')
				throw new Failure('not-supported', "_summary takes 'count' or 'false' here", { location: { expression: '_summary' } });
			if (value === 'count') search.summary = 'count';
			search.applied.push([name, value]);
			return true;
		case '_total':
			if (!['none', 'accurate', 'estimate'].includes(value))
				throw new Failure('invalid', "_total takes 'none', 'accurate' or 'estimate'", { location: { expression: '_total' } });
			search.total = value !== 'none';
			search.applied.push([name, value]);
			return true;
		case '_format':
			search.applied.push([name, value]);
			return true;
		default:
			return false;
	}
}

/** A name that somebody made up goes back to him, but not its control characters or a page of it. */
function printable(name: string): string {
	return name.replace(/[^\x20-\x7e]/g, '?').slice(0, 64);
}
