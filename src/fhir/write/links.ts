import type { JsonObject } from '#core/json.ts';
import type { HeldContent } from '#record/kinds/resource.ts';
import type { ColumnValue } from '#record/table-shape.ts';
import type { ResourceDefinition } from '../resource.ts';

/**
 * What ties a written resource to others: the rows that it refers to, and the keys by which messages and documents find it. A
 * key follows what the resource says, unless it is another than the resource said before: then a message gave it, and it stays.
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
