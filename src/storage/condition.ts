import type { SearchPlan } from '#record/search-plan.ts';
import type { Connection } from './connection.ts';
import { searchQuery } from './statements/search-resources.ts';

/** Returns FHIR ids of the matches within the site, as the transaction sees it: none, one, or the same one twice when there are several. */
export async function matchingIds(connection: Connection, siteId: string, plan: SearchPlan): Promise<string[]> {
	const { statement, values } = searchQuery(siteId, { ...plan, count: 1, extent: 'head' }, 1);
	const rows = await connection.runOnce(statement.text, values);
	const found = rows.map(([id]) => id as string);
	// The bound of a page holds the second row back, but it is enough to know that there is one.
	return Number(rows[0]?.[6] ?? 0) > found.length ? [...found, ...found] : found;
}
