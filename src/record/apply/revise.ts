import type { JsonObject } from '#core/json.ts';
import type { ApplyContext } from './context.ts';
import type { Row } from './rows.ts';

/**
 * Returns the next version of a row, or the row itself when nothing changes. One message makes one version, however many of its changes
 * touch the resource. The version is noted in the context.
 */
export function revise(
	context: ApplyContext,
	row: Row,
	text: string,
	resource: JsonObject,
	links: Row['links'],
	meta: Row['meta'] = row.meta,
): Row {
	if (text === row.text && meta === row.meta && sameLinks(row.links, links)) return row;
	const again = context.changed.indexOf(row);
	if (again >= 0) {
		const next = { ...row, text, resource, links, meta };
		context.changed[again] = next;
		return next;
	}
	const { source, lastUpdated } = context;
	const next = { ...row, version: row.version + 1, text, resource, links, meta, source, supersedes: row, stored: false, lastUpdated };
	context.changed.push(next);
	return next;
}

function sameLinks(left: Row['links'], right: Row['links']): boolean {
	for (const name in right) if ((left[name] ?? null) !== (right[name] ?? null)) return false;
	return true;
}
