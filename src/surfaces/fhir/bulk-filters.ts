import { Failure } from '#core/failure.ts';
import { definitionOf } from '#fhir/resources/index.ts';
import { parseSearch } from '#fhir/search/parse.ts';
import type { SearchLimits } from '#fhir/search/parsed-search.ts';
import { inclusionParameters, resultParameters } from '#fhir/search/result.ts';
import { namesCodes } from '#fhir/search/subsumption.ts';
import type { Terminology } from '#fhir/terminology/value-sets.ts';
import type { Scopes } from '#record/scopes.ts';
import type { Clause } from '#record/search-plan.ts';
import type { ResourceType } from '#record/table-shape.ts';

export interface Filtering {
	/** The types that are exported. */
	types: readonly ResourceType[];
	limits: SearchLimits;
	scopes: Scopes | undefined;
	base: string;
	terminology(): Promise<Terminology>;
}

type Filters = Partial<Record<ResourceType, Clause>>;

/**
 * Reads `_typeFilter` (Bulk Data Access IG 2.0): searches of the form `<type>?<query>`, repeated or separated by commas. A resource of such a
 * type is exported if one of them finds it.
 * @throws Failure for a search that cannot be carried out, unless it is to be ignored
 */
export async function typeFilters(
	values: readonly string[],
	filtering: Filtering,
	ignored: { add(failure: Failure): void },
): Promise<Filters> {
	// A comma within a query does not separate anything: a type and a question mark follow the one that does.
	const queries = values.flatMap((value) => value.split(/,(?=[A-Z][A-Za-z]*\?)/));
	const { searchParametersMax } = filtering.limits;
	if (queries.length > searchParametersMax) throw wrong(`an export may have at most ${searchParametersMax} searches in _typeFilter`);
	const found = new Map<ResourceType, Clause[]>();
	for (const query of queries) {
		try {
			const { type, clauses } = await filterOf(query, filtering);
			const alternatives = found.get(type) ?? [];
			found.set(type, [...alternatives, { kind: 'all', clauses }]);
		} catch (error) {
			if (!(error instanceof Failure) || error.code === 'unavailable') throw error;
			ignored.add(wrong(`_typeFilter cannot be applied: ${error.diagnostics}`));
		}
	}
	return Object.fromEntries([...found].map(([type, clauses]): [ResourceType, Clause] => [type, { kind: 'any', clauses }]));
}

async function filterOf(
	text: string,
	{ types, limits, scopes, base, terminology }: Filtering,
): Promise<{ type: ResourceType; clauses: Clause[] }> {
	const [, name = '', query = ''] = /^([A-Za-z]+)\?(.*)$/s.exec(text) ?? [];
	const definition = definitionOf(name);
	if (definition === undefined) throw wrong('it takes searches of the form <type>?<query> for types that are served');
	const { type } = definition;
	if (!types.includes(type)) throw wrong(`the export does not have the type ${type}`);
	if (query.includes('\0')) throw wrong('it has a character that no text may have');
	for (const [parameter] of new URLSearchParams(query)) {
		const shapes = Object.hasOwn(resultParameters, parameter) || Object.hasOwn(inclusionParameters, parameter);
		if (shapes) throw wrong(`it selects resources, and ${parameter} does not`);
	}
	const terms = namesCodes(query) ? await terminology() : undefined;
	const { plan } = parseSearch(definition, query, { limits, lenient: false, base, scopes, terminology: terms });
	return { type, clauses: plan.clauses };
}

function wrong(diagnostics: string): Failure {
	return new Failure('not-supported', diagnostics, { location: { expression: '_typeFilter' } });
}
