import type { ReadStatement } from '../reader.ts';
import { nameOf, relationOfAll } from './relation.ts';
import { rowColumns } from './row-columns.ts';

const statements = new Map<string, ReadStatement>();

/** Rows of the given sites and ids, deleted ones too, each with its place among them; a look-up by key for each, whatever the planner believes. */
export function readRowsStatement(table: string): ReadStatement {
	let statement = statements.get(table);
	if (statement === undefined) {
		const text = `
select k.place, r.* from unnest($1::uuid[], $2::uuid[]) with ordinality as k (site_id, id, place)
cross join lateral (select ${rowColumns(table)} from ${relationOfAll(table)} r where r.site_id = k.site_id and r.id = k.id offset 0) r`;
		statement = { name: `read_${nameOf(table)}_rows`, text };
		statements.set(table, statement);
	}
	return statement;
}
