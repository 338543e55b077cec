import type { JsonObject } from '#core/json.ts';
import type { HeldContent } from '#record/kinds/resource.ts';
import type { ColumnValue } from '#record/table-shape.ts';
import type { ResourceDefinition } from '../resource.ts';

/**
 * Returns the links of a written resource: the rows to which it refers, and the keys by which messages and documents find it. A key follows
 * the
 * resource's content. If a key differs from the one that the earlier content implies, a message gave it, and it stays.
 */
export function linksOf(
	{ table, identity }: Pick<ResourceDefinition, 'table' | 'identity'>,
	resource: JsonObject,
	held: HeldContent | undefined,
): Readonly<Record<string, ColumnValue>> {
	const links: Record<string, ColumnValue> = { ...table.statedLinks(resource) };
	for (const column in identity) {
		const keyOf = identity[column];
		if (keyOf === undefined) continue;
		const before = held?.links[column] ?? null;
		const isStated = held === undefined || before === null || before === keyOf(held.resource);
		links[column] = isStated ? keyOf(resource) : before;
	}
	return links;
}
