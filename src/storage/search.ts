import { isFhirId, rowIdOf } from '#record/row-id.ts';
import type { SearchPlan } from '#record/search-plan.ts';
import type { StoredResource } from '#record/stored-resource.ts';
import type { Cell } from './connection.ts';
import type { Reader } from './reader.ts';
import { countQuery, readStatement, searchQuery } from './statements/search-resources.ts';

/** Reads one resource of the site; undefined when the site has none of this id. */
export async function readResource(reader: Reader, siteId: string, table: string, id: string): Promise<StoredResource | undefined> {
	if (!isFhirId(id)) return undefined;
	const [row] = await reader.run(readStatement(table), [siteId, rowIdOf(id)]);
	return row && readRow(row);
}

function readRow(cells: readonly Cell[]): StoredResource {
	return {
		id: cells[0] as string,
		version: cells[1] as string,
		lastUpdated: cells[2] as string,
		source: cells[3] ?? null,
		meta: cells[4] ?? null,
		text: cells[5] as string,
	};
}

export interface FoundPage {
	rows: StoredResource[];
	/** Whether more rows follow. */
	more: boolean;
}

/**
 * One page of a search within the site. It has at most `plan.count` rows, and fewer where their texts together would
 * pass `bytesMax`, but one at least when there is one.
 */
export async function searchResources(reader: Reader, siteId: string, plan: SearchPlan, bytesMax: number): Promise<FoundPage> {
	const { statement, values } = searchQuery(siteId, plan, bytesMax);
	const rows = await reader.run(statement, values);
	const page = rows.slice(0, plan.count);
	return { rows: page.map(readRow), more: Number(rows[0]?.[6] ?? 0) > page.length };
}

/** The number of all matches, whatever page the plan speaks of. */
export async function countResources(reader: Reader, siteId: string, plan: SearchPlan): Promise<number> {
	const { statement, values } = countQuery(siteId, plan);
	const rows = await reader.run(statement, values);
	return Number(rows[0]?.[0]);
}
