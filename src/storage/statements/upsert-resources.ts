import type { Column, TableShape } from '#record/table-shape.ts';
import type { Statement } from '../statement.ts';

/** Arrays of arrays do not unnest; a text[] column travels as its literal. */
const parameterType = (column: Column) => (column.sqlType === 'text[]' ? 'text' : column.sqlType);

/**
 * Writes the current versions of one resource type: the common columns are `$1` to `$9` (site, id, version, last
 * updated, source, meta, offset, length, packed texts), then the links, then the search columns.
 */
export function upsertResources({ table, links, search }: TableShape): Statement {
	const columns = [...links, ...search];
	const names = columns.map((column) => column.name);
	const parameters = columns.map((column, index) => `$${index + 10}::${parameterType(column)}[]`);
	const values = columns.map((column) => (column.sqlType === 'text[]' ? `k.${column.name}::text[]` : `k.${column.name}`));
	const updates = ['version', 'last_updated', 'source', 'meta', 'resource', ...names].map((name) => `${name} = excluded.${name}`);
	return {
		name: `upsert_${table}`,
		text: `
insert into ${table} (site_id, id, version, last_updated, source, meta, resource, ${names.join(', ')})
select k.site_id, k.id, k.version, k.last_updated, k.source, k.meta, convert_from(substring($9::bytea from k.start for k.length), 'UTF8'), ${values.join(', ')}
from unnest($1::uuid[], $2::uuid[], $3::integer[], $4::timestamptz[], $5::text[], $6::text[], $7::integer[], $8::integer[], ${parameters.join(', ')})
	as k (site_id, id, version, last_updated, source, meta, start, length, ${names.join(', ')})
on conflict (site_id, id) do update set ${updates.join(', ')}`,
	};
}
