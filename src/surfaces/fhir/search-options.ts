import type { SearchOptions } from '#fhir/search/parse.ts';
import { namesCodes } from '#fhir/search/subsumption.ts';
import type { Interacting } from './context.ts';

/** Returns the options for a search of a caller. The terminology of the site is loaded only for a query that needs it. */
export async function searchOptions(
	{ context, grant, base }: Pick<Interacting, 'context' | 'grant' | 'base'>,
	query: string,
	lenient: boolean,
): Promise<SearchOptions> {
	const { limits, libraries } = context;
	const terminology = namesCodes(query) ? (await libraries.of(grant.siteId)).terminology : undefined;
	return { limits, lenient, base, scopes: grant.scopes, terminology };
}
