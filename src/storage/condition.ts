import { rowIdOf } from '#record/row-id.ts';
import type { SearchPlan } from '#record/search-plan.ts';
import type { Connection } from './connection.ts';
import { searchQuery } from './statements/search-resources.ts';

/** Row ids of the first two resources of the site that match, as the transaction sees it. */
export async function matchingRows(connection: Connection, siteId: string, plan: SearchPlan): Promise<string[]> {
	const { statement, values } = searchQuery(siteId, { ...plan, count: 1 }, 1);
	const rows = await connection.runOnce(statement.text, values);
	// The second row may be held back by the bound of a page; that there is one is what counts.
	const found = rows.map(([id]) => rowIdOf(id as string));
	return Number(rows[0]?.[6] ?? 0) > found.length ? [...found, ...found] : found;
}
