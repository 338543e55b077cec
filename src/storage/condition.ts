import type { Matches } from '#record/condition.ts';
import type { SearchPlan } from '#record/search-plan.ts';
import type { Connection } from './connection.ts';
import { followedPatientsMax, searchQuery, survivorsQuery } from './statements/search-resources.ts';

/** Returns the matches within the site, as the transaction sees it: none, one, or the same one twice when there are several. */
export async function matchesOf(connection: Connection, siteId: string, plan: SearchPlan): Promise<Matches> {
	if (plan.resourceType === 'Patient') return patientsOf(connection, siteId, plan);
	const { statement, values } = searchQuery(siteId, { ...plan, count: 1, extent: 'head' }, 1, 'bounded');
	const rows = await connection.runOnce(statement.text, values);
	const ids = rows.map(([id]) => id as string);
	// The bound of a page holds the second row back, but it is enough to know that there is one.
	return { ids: Number(rows[0]?.[6] ?? 0) > ids.length ? [...ids, ...ids] : ids, throughMerge: false };
}

/** A patient who was merged stands for the survivor, so both together are one. */
async function patientsOf(connection: Connection, siteId: string, plan: SearchPlan): Promise<Matches> {
	const { statement, values } = survivorsQuery(siteId, plan);
	const rows = await connection.runOnce(statement.text, values);
	const ids = rows.map(([id]) => id as string);
	const isBeyond = Number(rows[0]?.[2] ?? 0) >= followedPatientsMax;
	return { ids: isBeyond ? [...ids, ...ids] : ids, throughMerge: rows.some(([, merged]) => merged === 't') };
}
