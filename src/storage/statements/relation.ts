import type { TableShape } from '#record/table-shape.ts';

/**
 * Returns what a statement selects rows of a type from, see `TableShape.table`. PostgreSQL plans it like the table itself. Deleted resources
 * are left out: their rows stay for their history alone.
 */
export function relation(table: string): string {
	const [shared, type] = table.split('/');
	return type === undefined ? table : `(select * from ${shared} where resource_type = '${type}' and not deleted)`;
}

/** The same with deleted resources, for a look-up by id. */
export function relationOfAll(table: string): string {
	const [shared, type] = table.split('/');
	return type === undefined ? table : `(select * from ${shared} where resource_type = '${type}')`;
}

/** The deleted resources of a type alone; undefined where none can be deleted. */
export function relationOfDeleted(table: string): string | undefined {
	const [shared, type] = table.split('/');
	return type === undefined ? undefined : `(select * from ${shared} where resource_type = '${type}' and deleted)`;
}

/** Returns a part of the name of a statement about the table. */
export function nameOf(table: string): string {
	return table.replace('/', '_');
}

/** The condition by which a statement on `keptIn` is about rows of the type alone. */
export function isOfType({ isShared, resourceType }: TableShape, alias: string): string {
	return isShared ? ` and ${alias}.resource_type = '${resourceType}'` : '';
}

/**
 * The keys `k` of a statement that looks rows up, and what it adds to the condition of the look-up. `keys` is an unnest, `columns` names its
 * columns. Of types that share a table the type becomes one of the keys: with a constant the planner would walk through all rows of the type
 * where it knows nothing of the table yet.
 */
export function keyed({ isShared, resourceType }: TableShape, keys: string, columns: string): { from: string; where: string } {
	if (!isShared) return { from: `${keys} as k (${columns})`, where: '' };
	return {
		from: `(select u.*, '${resourceType}'::text as resource_type from ${keys} as u (${columns}) offset 0) k`,
		where: ' and r.resource_type = k.resource_type',
	};
}
