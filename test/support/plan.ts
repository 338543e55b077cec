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

/** The node and all below it. */
export function nodesOf(node: PlanNode): PlanNode[] {
	return [node, ...(node.Plans ?? []).flatMap(nodesOf)];
}
