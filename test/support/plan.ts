import type pg from 'pg';

/** A node of a plan as `explain (format json)` writes it; the counts need `analyze`. */
export interface PlanNode {
	'Node Type': string;
	'Index Name'?: string;
	'Index Cond'?: string;
	'Relation Name'?: string;
	Filter?: string;
	'One-Time Filter'?: string;
	'Actual Rows'?: number;
	'Actual Loops'?: number;
	'Rows Removed by Filter'?: number;
	Plans?: PlanNode[];
}

/** Reads the name of the whole table or index for each partition of one. */
export async function readParents(client: pg.Client): Promise<ReadonlyMap<string, string>> {
	const { rows } = await client.query<{ child: string; parent: string }>(
		'select c.relname as child, p.relname as parent from pg_inherits i join pg_class c on c.oid = i.inhrelid join pg_class p on p.oid = i.inhparent',
	);
	return new Map(rows.map(({ child, parent }) => [child, parent]));
}

/** The node and all below it. */
export function nodesOf(node: PlanNode): PlanNode[] {
	return [node, ...(node.Plans ?? []).flatMap(nodesOf)];
}
